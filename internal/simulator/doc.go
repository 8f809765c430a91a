// Package simulator answers as the model providers do: their files, batches and live calls, over their own wire.
//
// One Server speaks for every vendor, each under its own path, so that a client needs another base URL and nothing else:
//
//	/openai/v1  /azure/openai/v1  /groq/openai/v1  /generic/v1    OpenAI's files, batches, chat and responses
//	/anthropic                                                    message batches and messages, both API generations
//	/gemini  /vertex  /gcs                                        Gemini's files and batches; Vertex jobs over Cloud Storage
//	/bedrock  /s3                                                 Bedrock's jobs and Converse, signed or by bearer; its buckets
//	/together/v1  /mistral  /xai/v1  /fireworks  /openrouter/api/v1
//	/deepseek  /ollama                                            live only
//	/sim                                                          ledger, truth, clock and faults of the simulator itself
//
// Jobs move as a pure function of the clock, validation is as late as the provider's, and result lines are made from the
// input file, the seed and a permutation when a client asks for them: memory does not grow with the number of requests.
// A model is any name; names that begin with "missing-" do not exist. A key is any text; keys that begin with "bad" are
// refused, and a job is seen only under the key that made it. Keys are kept as hashes. The secret of an AWS key is its id.
//
// Models have a known quality, give in to push back with a known chance, and judge each other's answers with known error: see Truth.
//
// What happens on the way can be spoiled by rules, one line each: see ParseRule.
package simulator
