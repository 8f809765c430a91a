// A simulator and a gateway in processes of their own, and the checks that all clients share.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';

// A job is validated for half of the queue, then waits for the other half; twice the queue is past its end.
const queueMinutes = 10;

/** Starts `assay sim` on a free port; it stops with the tests. ASSAY is the path of the binary. */
export async function simulate() {
  const { root } = await start(['sim', '--listen', '127.0.0.1:0', '--queue', `${queueMinutes}m`]);
  return {
    root,
    untilRunning: () => pass(root, queueMinutes * 0.6),
    untilOver: () => pass(root, queueMinutes * 2),
  };
}

/** Starts `assay gateway` in an empty home, in front of a simulator; it stops with the tests. */
export async function gateway(sim, token) {
  const dir = mkdtempSync(join(tmpdir(), 'assay-gateway-js-'));
  after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
  writeFileSync(join(dir, 'tokens'), `anna ${token}\n`, { mode: 0o600 });
  return start(['gateway', '--listen', '127.0.0.1:0', '--token-file', 'tokens', '--home', 'home', '--interval', '50ms'], {
    cwd: dir,
    env: {
      ...process.env, OPENAI_API_KEY: 'sim', ANTHROPIC_API_KEY: 'sim', GOOGLE_API_KEY: 'sim',
      OPENAI_BASE_URL: `${sim.root}/openai/v1`, ANTHROPIC_BASE_URL: `${sim.root}/anthropic`, GOOGLE_GEMINI_BASE_URL: `${sim.root}/gemini`,
    },
  });
}

async function start(args, options) {
  const child = spawn(process.env.ASSAY ?? 'assay', args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(child, 'exit');
  after(() => { child.kill(); return gone; });
  const [first] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    gone.then(([code]) => Promise.reject(new Error(`assay ${args[0]} ended with ${code}`))),
  ]);
  const root = /http:\/\/\S+:\d+/.exec(first)?.[0];
  assert.ok(root, `where does it listen? ${first}`);
  return { root };
}

async function pass(root, minutes) {
  const reply = await fetch(`${root}/sim/clock`, { method: 'POST', body: JSON.stringify({ advance: `${minutes}m` }) });
  assert.equal(reply.status, 200, await reply.text());
}

/** Checks that a reply has these members with these types, such as { id: 'string', ended_at: 'string|null' }; it may have more. */
export function wantShape(reply, shape) {
  const got = {};
  for (const [name, types] of Object.entries(shape)) {
    const type = kind(reply[name]);
    got[name] = types.split('|').includes(type) ? types : type;
  }
  assert.deepEqual(got, shape);
}

function kind(value) {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Collects what an async iterator gives. */
export async function all(iterable) {
  const out = [];
  for await (const one of iterable) out.push(one);
  return out;
}

/** The JSON documents of a text, one on a line. */
export function jsonLines(text) {
  return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}
