import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ApiError, GoogleGenAI, JobState } from '@google/genai';
import { all, jsonLines, simulate } from './sim.mjs';

const sim = await simulate();
const folder = await mkdtemp(join(tmpdir(), 'interop-'));
after(() => rm(folder, { recursive: true }));

const model = 'gemini-2.5-flash';
const gemini = new GoogleGenAI({ apiKey: 'sim', httpOptions: { baseUrl: `${sim.root}/gemini` } });
const vertex = new GoogleGenAI({
  vertexai: true, project: 'p1', location: 'us-central1', httpOptions: { baseUrl: `${sim.root}/vertex` },
  googleAuthOptions: { authClient: { getRequestHeaders: async () => new Headers({ Authorization: 'Bearer sim' }) } },
});

const fileOf = (lines) => new Blob([lines.map((l) => JSON.stringify(l) + '\n').join('')], { type: 'application/jsonl' });
const ask = (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] });

test('gemini: a batch goes from its file to its results', async () => {
  const input = fileOf([{ key: 'q0', request: ask('One?') }, { key: 'q1', request: ask('Two?') }]);
  const file = await gemini.files.upload({ file: input, config: { name: 'questions', displayName: 'questions', mimeType: 'application/jsonl' } });
  assert.equal(file.name, 'files/questions');
  assert.equal(file.sizeBytes, String(input.size));
  await sim.untilOver();
  assert.equal((await gemini.files.get({ name: file.name })).state, 'ACTIVE');

  let job = await gemini.batches.create({ model, src: file.name, config: { displayName: 'run r1' } });
  assert.equal(job.state, JobState.JOB_STATE_PENDING);
  assert.equal(job.displayName, 'run r1');
  await sim.untilOver();
  job = await gemini.batches.get({ name: job.name });
  assert.equal(job.state, JobState.JOB_STATE_SUCCEEDED);
  const path = join(folder, 'results.jsonl');
  await gemini.files.download({ file: job.dest.fileName, downloadPath: path });
  const results = jsonLines(await readFile(path, 'utf8'));
  assert.deepEqual(results.map((r) => r.key).sort(), ['q0', 'q1']);
  assert.ok(results.every((r) => r.response.candidates[0].content.parts.at(-1).text));

  await gemini.files.delete({ name: file.name });
  await assert.rejects(gemini.files.get({ name: file.name }), (e) => e instanceof ApiError && e.status === 403);
});

test('gemini: requests and results travel inline', async () => {
  const src = ['a', 'b'].map((key) => ({ ...ask(`Question ${key}?`), metadata: { key }, config: { maxOutputTokens: 2000 } }));
  let job = await gemini.batches.create({ model, src, config: { displayName: 'inline' } });
  await sim.untilOver();
  job = await gemini.batches.get({ name: job.name });
  assert.equal(job.state, JobState.JOB_STATE_SUCCEEDED);
  assert.deepEqual(job.dest.inlinedResponses.map((r) => r.metadata.key), ['a', 'b']);
  assert.ok(job.dest.inlinedResponses.every((r) => r.response.candidates[0].content.parts.at(-1).text));
});

test('gemini: batches and files are listed page by page; batches are cancelled and deleted', async () => {
  const made = [];
  for (let i = 0; i < 3; i++) {
    made.unshift((await gemini.batches.create({ model, src: [ask('One?')], config: { displayName: 'one of three' } })).name);
    await gemini.files.upload({ file: fileOf([{ key: 'q0', request: ask('One?') }]), config: { name: `page-${i}`, mimeType: 'application/jsonl' } });
  }
  const listed = (await all(await gemini.batches.list({ config: { pageSize: 2 } }))).map((j) => j.name);
  assert.deepEqual(listed.slice(0, 3), made);
  const files = (await all(await gemini.files.list({ config: { pageSize: 2 } }))).map((f) => f.name);
  assert.deepEqual(files, ['files/page-2', 'files/page-1', 'files/page-0']);
  await gemini.batches.cancel({ name: made[0] });
  await sim.untilOver();
  assert.equal((await gemini.batches.get({ name: made[0] })).state, JobState.JOB_STATE_CANCELLED);
  await gemini.batches.delete({ name: made[0] });
  await assert.rejects(gemini.batches.get({ name: made[0] }), (e) => e instanceof ApiError && e.status === 404);
});

test('gemini: a question is answered live', async () => {
  const got = await gemini.models.generateContent({ model, contents: 'Why is the sky blue?' });
  assert.ok(got.text);
  assert.equal(got.candidates[0].finishReason, 'STOP');
  assert.ok(got.usageMetadata.totalTokenCount > 0);
  const count = await gemini.models.countTokens({ model, contents: 'Why is the sky blue?' });
  assert.equal(count.totalTokens, got.usageMetadata.promptTokenCount);
});

test('vertex: a batch reads and writes Cloud Storage', async () => {
  const headers = { Authorization: 'Bearer sim' };
  const body = fileOf(['q0', 'q1'].map((id) => ({ request: { ...ask(`Question ${id}?`), labels: { id } } })));
  const put = await fetch(`${sim.root}/gcs/upload/storage/v1/b/questions/o?uploadType=media&name=in.jsonl`, { method: 'POST', headers, body });
  assert.equal(put.status, 200, await put.text());
  let job = await vertex.batches.create({
    model, src: 'gs://questions/in.jsonl', config: { displayName: 'run r1', dest: 'gs://answers/r1' },
  });
  assert.deepEqual((await all(await vertex.batches.list({ config: { filter: 'display_name="run r1"' } }))).map((j) => j.name), [job.name]);
  await sim.untilOver();
  job = await vertex.batches.get({ name: job.name });
  assert.equal(job.state, JobState.JOB_STATE_SUCCEEDED);
  assert.equal(job.completionStats.successfulCount, '2');
  const object = `${job.outputInfo.gcsOutputDirectory.replace('gs://answers/', '')}/predictions.jsonl`;
  const got = await fetch(`${sim.root}/gcs/storage/v1/b/answers/o/${encodeURIComponent(object)}?alt=media`, { headers });
  const results = jsonLines(await got.text());
  assert.deepEqual(results.map((r) => r.request.labels.id).sort(), ['q0', 'q1']);
  await vertex.batches.delete({ name: job.name });
  await assert.rejects(vertex.batches.get({ name: job.name }), (e) => e instanceof ApiError && e.status === 404);
});

test('vertex: a job is cancelled, and a question is answered live', async () => {
  const job = await vertex.batches.create({
    model, src: 'gs://questions/in.jsonl', config: { displayName: 'stopped', dest: 'gs://answers/r2' },
  });
  await vertex.batches.cancel({ name: job.name });
  await sim.untilOver();
  assert.equal((await vertex.batches.get({ name: job.name })).state, JobState.JOB_STATE_CANCELLED);
  const got = await vertex.models.generateContent({ model, contents: 'Why is the sky blue?' });
  assert.ok(got.text);
});
