/**
 * What an adapter costs beside the engine: the same recorded stream of the AI SDK and of LangGraph through the adapter, and through
 * an agent function that yields its text and writes the span of its model call. No framework is needed, and no checkpoint is written.
 *
 *   npm run bench:adapters               prints CPU time per turn and per chunk, and the targets
 *   npm run bench:adapters -- --strict   ends with 1 if a target is missed
 */
import type { Agent } from '@parley/a2a'
import { fromAiSdk } from '@parley/a2a/adapters/ai-sdk'
import { fromLangGraph } from '@parley/a2a/adapters/langgraph'
import { testAgent } from '@parley/a2a/testing'

const maxTurnUs = 200
const maxChunkUs = 5
const rounds = 12
const turns = 300
const chunks = 20_000

/** A run that says `count` pieces. */
function* aiSdkParts(count: number): Generator<object> {
  yield { type: 'start' }
  yield { type: 'start-step' }
  yield { type: 'text-start', id: '1' }
  for (let index = 0; index < count; index += 1) yield { type: 'text-delta', id: '1', text: 'a piece of text ' }
  yield { type: 'text-end', id: '1' }
  const usage = { inputTokens: 12, outputTokens: count }
  yield { type: 'finish-step', usage, finishReason: 'stop', response: { modelId: 'recorded' } }
  yield { type: 'finish', finishReason: 'stop', totalUsage: usage }
}

function* graphEvents(count: number): Generator<readonly [readonly string[], string, unknown]> {
  const metadata = { langgraph_node: 'model' }
  for (let index = 0; index < count; index += 1)
    yield [[], 'messages', [{ type: 'ai', id: 'm', content: 'a piece of text ' }, metadata]]
  yield [[], 'updates', { model: {} }]
}

/** As streams of frameworks do it: each piece is a promise. */
async function* asynchronous<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) yield item
}

const countOf = (text: string): number => Number(text)

const plainAiSdk: Agent = {
  resume: 'rerun',
  async *run({ text, span }) {
    for await (const part of asynchronous(aiSdkParts(countOf(text)))) {
      if ('text' in part && typeof part.text === 'string') yield part.text
      if ('usage' in part) span('chat recorded', { kind: 'model' }).end('ok', { 'gen_ai.usage.input_tokens': 12 })
    }
  },
}

const plainLangGraph: Agent = {
  resume: 'rerun',
  async *run({ text }) {
    for await (const [, mode, payload] of asynchronous(graphEvents(countOf(text))))
      if (mode === 'messages') yield (payload as [{ content: string }])[0].content
  },
}

const adaptedAiSdk = fromAiSdk(
  {
    version: 'agent-v1',
    async stream({ messages }: { messages: readonly { content: readonly { text: string }[] }[] }) {
      const count = countOf(messages.at(-1)?.content[0]?.text ?? '')
      return { stream: asynchronous(aiSdkParts(count)), responseMessages: Promise.resolve([]) }
    },
  } as never,
  { memory: false, history: { tasks: 0 } },
)

/** Its checkpointer is of the graph, so the adapter writes nothing. */
const adaptedLangGraph = fromLangGraph({
  lg_is_pregel: true,
  checkpointer: { getTuple: async () => undefined },
  async stream({ messages }: { messages: readonly { content: readonly { text: string }[] }[] }) {
    return asynchronous(graphEvents(countOf(messages.at(-1)?.content[0]?.text ?? '')))
  },
  getState: async () => ({ values: { messages: [] }, next: [], tasks: [] }),
})

async function cpuUs(agent: Agent, count: number, times: number): Promise<number> {
  const tested = testAgent(agent)
  try {
    const before = process.cpuUsage()
    for (let index = 0; index < times; index += 1) await tested.send(String(count))
    const { user, system } = process.cpuUsage(before)
    return (user + system) / times
  } finally {
    await tested.close()
  }
}

/** Alternately, so that both see the same machine. The fastest of each counts: other programs only add time. */
async function difference(plain: Agent, adapted: Agent, count: number, times: number): Promise<number> {
  let [own, all] = [Infinity, Infinity]
  for (let round = 0; round < rounds; round += 1) {
    own = Math.min(own, await cpuUs(plain, count, times))
    all = Math.min(all, await cpuUs(adapted, count, times))
  }
  return all - own
}

let isMissed = false
for (const [name, plain, adapted] of [
  ['AI SDK', plainAiSdk, adaptedAiSdk],
  ['LangGraph', plainLangGraph, adaptedLangGraph],
] as const) {
  const turnUs = await difference(plain, adapted, 1, turns)
  const chunkUs = (await difference(plain, adapted, chunks, 1)) / chunks
  const isFast = turnUs < maxTurnUs && chunkUs < maxChunkUs
  isMissed ||= !isFast
  console.log(
    `${isFast ? '✔' : '✖'} ${name}: ${turnUs.toFixed(0)} µs a turn (target < ${maxTurnUs}), ${chunkUs.toFixed(2)} µs a chunk (target < ${maxChunkUs})`,
  )
}
if (isMissed && process.argv.includes('--strict')) process.exitCode = 1
