/** A small store with a row in every table, written by a real engine. */
import { artifact, inputRequired, type Agent, type Report, type Turn } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import { testAgent } from '@parley/a2a/testing'

/** Larger than what stays in the log. */
const largeBytes = 70_000

/** `ask` asks a question, `file` sends large bytes, `long` writes enough for a snapshot. */
const talker: Agent = {
  resume: 'rerun',
  async *run({ text, history }: Turn): AsyncGenerator<Report> {
    const said = (await history()).filter(({ role }) => role === 'ROLE_USER')
    if (text === 'ask' && said.length < 2) return yield inputRequired('And?')
    if (text === 'file') yield artifact('file', { parts: [{ raw: Buffer.alloc(largeBytes, 7).toString('base64') }] })
    const words = text === 'long' ? 400 : 3
    for (let n = 0; n < words; n += 1)
      yield artifact('text', { text: `${n} ${'word '.repeat(40)}`, append: n > 0, last: n === words - 1 })
  },
}

const texts = ['short', 'file', 'long', 'ask', 'push'] as const
export type StoreContent = Readonly<Record<(typeof texts)[number], string>>

/** Returns the id of each task, by the text of its message, and closes the store. */
export async function fillStore(store: FullStore): Promise<StoreContent> {
  const agent = testAgent(talker, { store })
  const ids: Record<string, string> = {}
  for (const text of texts) {
    const task = await agent.send(text)
    if (!('status' in task)) throw new Error('expected a task')
    ids[text] = task.id
  }
  const pushed = ids['push'] as string
  const head = (await store.tasks.load(pushed))?.head ?? 0
  const config = { url: 'https://hooks.example.com/a' }
  const push = { taskId: pushed, id: 'hook', config, deliveredSeq: head, attempt: 0, createdAt: Date.now() }
  await store.push.save({ ...push, state: 'active' })
  await store.push.recordAttempt({
    taskId: pushed,
    pushId: 'hook',
    seq: head,
    at: Date.now(),
    attempt: 1,
    outcome: '200',
    durationMs: 4,
  })
  await store.kv.write('settings', { key: 'a', value: { b: 1 } })
  await agent.close()
  return ids as unknown as StoreContent
}
