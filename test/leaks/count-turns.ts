/** Makes many tasks of four kinds, collects garbage, and prints how many of their turns are still referenced. */
import { inputRequired, memoryStore, reply, status } from '@parley/a2a'
import type { Agent, Task, Turn } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'

const turns = new Map<string, WeakRef<Turn>[]>()
const agent: Agent = async function* (turn) {
  const { text, signal } = turn
  turns.set(text, [...(turns.get(text) ?? []), new WeakRef(turn)])
  if (text === 'waiting') yield inputRequired('Which?')
  else if (text === 'thrown') throw new Error('no')
  else if (text === 'canceled') {
    yield status('At work')
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  } else {
    yield status('At work')
    yield inputRequired('Which?')
  }
}

const tested = testAgent(agent, {
  keepOpenOnInputRequired: true,
  server: { limits: { streamsPerCaller: 300 }, log: { debug() {}, info() {}, warn() {}, error() {} } },
})

for (let index = 0; index < 300; index += 1) await tested.send('waiting')
for (let index = 0; index < 250; index += 1) await tested.send('thrown')
for (let index = 0; index < 250; index += 1) {
  const task = (await tested.send('canceled', { returnImmediately: true })) as Task
  await tested.cancel(task.id)
}
await readAndLeave()
const streamsAgain = await readAndLeave()

/** 300 readers at once, which is as many as one caller may have; all of them disconnect silently. */
async function readAndLeave(): Promise<number> {
  const readers = Array.from({ length: 300 }, () => tested.stream('streams').frames())
  let begun = 0
  for (const reader of readers) if ((await reader.next()).done === false) begun += 1
  for (const reader of readers) await reader.return()
  return begun
}

const kept = (name: string): { made: number; kept: number } => {
  const all = turns.get(name) ?? []
  return { made: all.length, kept: all.filter((turn) => turn.deref() !== undefined).length }
}
// An object that a WeakRef returned stays alive until the next turn of the event loop.
for (let round = 0; round < 5; round += 1) {
  await new Promise((resolve) => setTimeout(resolve, 20))
  globalThis.gc?.()
}
const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
const report = {
  waiting: kept('waiting'),
  thrown: kept('thrown'),
  canceled: kept('canceled'),
  streams: kept('streams'),
  timers,
  streamsAgain,
}
await tested.close()

/** Short tasks with every final state, more than any cache keeps: the heap growth of the last 3,000 of them. */
async function growthPerTask(): Promise<number> {
  const brief = testAgent(
    ({ text }) => {
      if (text === 'thrown') throw new Error('no')
      if (text === 'waiting') return inputRequired('Which?')
      return text === 'reply' ? reply('Hi') : text
    },
    { store: memoryStore({ maxTasks: 100 }), server: { log: { debug() {}, info() {}, warn() {}, error() {} } } },
  )
  const words = ['thrown', 'waiting', 'reply', 'said', 'streamed', 'followed']
  const run = async (count: number, only?: string): Promise<number> => {
    for (let index = 0; index < count; index += 1) {
      const word: string = only ?? words[index % words.length]!
      if (word === 'streamed') await brief.stream(word).all()
      else {
        const task = await brief.send(word)
        if (word === 'waiting' && 'status' in task) await brief.cancel(task.id)
      }
    }
    for (let round = 0; round < 3; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      globalThis.gc?.()
    }
    return process.memoryUsage().heapUsed
  }
  // All bounded caches are full by then.
  await run(1_100, 'reply')
  const before = await run(2_500)
  const after = await run(3_000)
  await brief.close()
  return (after - before) / 3_000
}
process.stdout.write(JSON.stringify({ ...report, bytesPerTask: await growthPerTask() }))
