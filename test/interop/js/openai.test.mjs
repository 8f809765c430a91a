import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { all, jsonLines, simulate, wantShape } from './sim.mjs';

const sim = await simulate();

const fileShape = {
  id: 'string', object: 'string', bytes: 'number', created_at: 'number', filename: 'string', purpose: 'string', status: 'string',
};
const batchShape = {
  id: 'string', object: 'string', endpoint: 'string', input_file_id: 'string', completion_window: 'string', status: 'string',
  created_at: 'number', errors: 'object|null', output_file_id: 'string|null', error_file_id: 'string|null', completed_at: 'number|null',
  in_progress_at: 'number|null', cancelled_at: 'number|null', request_counts: 'object', metadata: 'object|null',
};

for (const [name, path, model] of [
  ['openai', '/openai/v1', 'gpt-5.6'],
  ['azure', '/azure/openai/v1', 'gpt-5.6'],
  ['groq', '/groq/openai/v1', 'openai/gpt-oss-120b'],
]) {
  const client = new OpenAI({ baseURL: sim.root + path, apiKey: `sim-${name}`, maxRetries: 0 });
  const lines = (n) =>
    Array.from({ length: n }, (_, i) =>
      JSON.stringify({
        custom_id: `q${i}`, method: 'POST', url: '/v1/chat/completions',
        body: { model, messages: [{ role: 'user', content: `Question ${i}?` }] },
      }) + '\n').join('');
  const upload = async (text) =>
    client.files.create({ file: await toFile(Buffer.from(text), 'questions.jsonl'), purpose: 'batch' });
  const create = (file) =>
    client.batches.create({ input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h', metadata: { run: 'r1' } });

  test(`${name}: a batch goes from its file to its results`, async () => {
    const file = await upload(lines(3));
    wantShape(file, { ...fileShape, expires_at: 'number|null' });
    await sim.untilRunning();
    assert.equal((await client.files.retrieve(file.id)).status, 'processed');
    let batch = await create(file);
    wantShape(batch, batchShape);
    assert.equal(batch.status, 'validating');
    await sim.untilOver();
    batch = await client.batches.retrieve(batch.id);
    wantShape(batch, batchShape);
    assert.equal(batch.status, 'completed');
    assert.deepEqual(batch.request_counts, { total: 3, completed: 3, failed: 0 });
    const results = jsonLines(await (await client.files.content(batch.output_file_id)).text());
    assert.deepEqual(results.map((r) => r.custom_id).sort(), ['q0', 'q1', 'q2']);
    assert.ok(results.every((r) => r.response.status_code === 200 && r.response.body.choices[0].message.content));
    assert.deepEqual(await client.files.delete(file.id), { id: file.id, object: 'file', deleted: true });
    await assert.rejects(client.files.retrieve(file.id), OpenAI.NotFoundError);
  });

  test(`${name}: batches are listed page by page and cancelled`, async () => {
    const file = await upload(lines(1));
    await sim.untilRunning();
    const made = [];
    for (let i = 0; i < 3; i++) made.unshift((await create(file)).id);
    const listed = (await all(client.batches.list({ limit: 2 }))).map((b) => b.id);
    assert.deepEqual(listed.slice(0, 3), made);
    assert.ok((await all(client.files.list({ limit: 2 }))).some((f) => f.id === file.id));
    await sim.untilRunning();
    assert.equal((await client.batches.cancel(made[0])).status, 'cancelling');
    await sim.untilOver();
    const ended = await client.batches.retrieve(made[0]);
    wantShape(ended, { ...batchShape, cancelled_at: 'number' });
    assert.equal(ended.status, 'cancelled');
  });

  test(`${name}: a question is answered live`, async () => {
    const got = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Why is the sky blue?' }] });
    wantShape(got, { id: 'string', object: 'string', created: 'number', model: 'string', choices: 'array', usage: 'object' });
    wantShape(got.choices[0], { finish_reason: 'string', index: 'number', message: 'object', logprobs: 'null' });
    wantShape(got.choices[0].message, { role: 'string', content: 'string', refusal: 'null' });
  });
}

test('openai: responses and embeddings are answered live', async () => {
  const client = new OpenAI({ baseURL: `${sim.root}/openai/v1`, apiKey: 'sim', maxRetries: 0 });
  const got = await client.responses.create({ model: 'gpt-5.6', input: 'Why is the sky blue?' });
  wantShape(got, {
    id: 'string', object: 'string', created_at: 'number', status: 'string', error: 'null', incomplete_details: 'null', instructions: 'null',
    model: 'string', tools: 'array', tool_choice: 'string', output: 'array', parallel_tool_calls: 'boolean', metadata: 'object|null',
    temperature: 'number|null', top_p: 'number|null', output_text: 'string', usage: 'object',
  });
  assert.notEqual(got.output_text, '');
  // This client asks for packed vectors and unpacks them itself.
  const vectors = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] });
  assert.equal(vectors.data.length, 2);
  assert.ok(vectors.data[0].embedding.every((x) => Math.abs(x) <= 1));
});

test('openai: errors are what the client knows', async () => {
  const client = new OpenAI({ baseURL: `${sim.root}/openai/v1`, apiKey: 'bad-key', maxRetries: 0 });
  await assert.rejects(client.batches.list(), OpenAI.AuthenticationError);
  await assert.rejects(
    client.withOptions({ apiKey: 'sim' }).chat.completions.create({
      model: 'gpt-5.6', temperature: 0.2, messages: [{ role: 'user', content: 'Hello' }],
    }),
    (e) => e instanceof OpenAI.BadRequestError && e.param === 'temperature' && e.code === 'unsupported_value' && e.requestID !== null,
  );
});
