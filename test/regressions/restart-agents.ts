/** The agent of the restart test; run as a program it opens its tasks, prints their ids, and waits to be killed. */
import { inputRequired, status } from '@parley/a2a'
import type { Agent, Task } from '@parley/a2a'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { testAgent } from '@parley/a2a/testing'

export const agents: Agent = {
  resume: 'rerun',
  async *run({ text, resumed, checkpoint, task }) {
    if (text === 'wait') {
      yield inputRequired('Which?')
      return
    }
    if (task.state === 'TASK_STATE_INPUT_REQUIRED' || text === 'that one') {
      yield 'thank you'
      return
    }
    if (resumed !== undefined) {
      yield `again from ${(resumed.checkpoint as { place: number }).place}`
      return
    }
    yield status('At work')
    await checkpoint({ place: 7 })
    await new Promise(() => {})
  },
}

const file = process.argv[2]
if (import.meta.main && file !== undefined) {
  const agent = testAgent(agents, { store: sqliteStore(file) })
  const work = (await agent.send('work', { returnImmediately: true })) as Task
  const wait = (await agent.send('wait')) as Task
  // Some output of the first must be durable before the kill.
  for (;;) {
    const { status: now } = await agent.get(work.id)
    if (now.message !== undefined) break
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await new Promise((resolve) => setTimeout(resolve, 50))
  process.stdout.write(`${JSON.stringify({ work: work.id, wait: wait.id })}\n`)
  setInterval(() => {}, 1_000)
}
