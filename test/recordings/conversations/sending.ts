/** Sends that wait for the turn or do not: reports, files, questions, direct replies, repeats, references. */
import { across, allVariants, type Conversation, httpVariants, newVariants } from '../conversation.ts'

const uuid = (name: string): string =>
  `0190aaaa-0000-7000-8000-${Buffer.from(name.padEnd(6, '_')).toString('hex').slice(0, 12)}`

export const sending: readonly Conversation[] = [
  ...across(allVariants, 'one text, then the task, whole and without history', async ({ call, id }) => {
    const { taskId } = await call('SendMessage', { messageId: id('m'), text: 'hello' })
    await call('GetTask', { taskId })
    await call('GetTask', { taskId, historyLength: 0 })
    await call('CancelTask', { taskId })
  }),
  ...across(allVariants, 'reports of every kind', async ({ call, id }) => {
    for (const text of ['chunks', 'artifacts', 'parts', 'status', 'nothing'])
      await call('SendMessage', { messageId: id(text), text })
  }),
  ...across(allVariants, 'turns that fail, are rejected or throw', async ({ call, id }) => {
    for (const text of ['fail', 'reject', 'throw', 'late-throw'])
      await call('SendMessage', { messageId: id(text), text })
  }),
  ...across(allVariants, 'a direct reply, and a follow-up in its context', async ({ call, id }) => {
    await call('SendMessage', { messageId: id('a'), text: 'reply now' })
    const contextId = uuid(id('c').slice(-6))
    await call('SendMessage', { messageId: id('b'), text: 'reply again', contextId })
  }),
  ...across(allVariants, 'parts of every kind, sent back', async ({ call, id, variant }) => {
    const value = { rows: [1, 2.5, null, true, 'x'], deep: { '': [] } }
    const parts = [
      { text: 'mirror' },
      { raw: 'AAEC/w==', filename: 'a.bin', mediaType: 'application/octet-stream' },
      { url: 'https://files.example.com/a.pdf', mediaType: 'application/pdf' },
      { data: value, metadata: { note: 'ä\u2028💥' } },
      ...(variant.version === '1.0' ? [{ data: null }, { data: [1, 'two'] }] : []),
    ]
    const { taskId } = await call('SendMessage', { messageId: id('m'), parts, messageMetadata: { a: { b: [1] } } })
    await call('GetTask', { taskId, historyLength: 10 })
  }),
  ...across(allVariants, 'a question and its answer, in two tasks of one context', async ({ call, id }) => {
    const { taskId, contextId } = await call('SendMessage', { messageId: id('a'), text: 'ask' })
    await call('SendMessage', { messageId: id('b'), text: 'Oslo', taskId })
    await call('GetTask', { taskId })
    await call('SendMessage', { messageId: id('c'), text: 'ask', contextId, historyLength: 1 })
    await call('SendMessage', { messageId: id('d'), text: 'too late', taskId })
  }),
  ...across(allVariants, 'credentials are required, then the task is canceled', async ({ call, id }) => {
    const { taskId } = await call('SendMessage', { messageId: id('a'), text: 'auth' })
    await call('CancelTask', { taskId })
    await call('GetTask', { taskId })
    await call('CancelTask', { taskId })
  }),
  ...across(allVariants, 'a send that does not wait, a cancel while the agent works', async ({ call, stream, id }) => {
    const text = `wait ${id('gate')}`
    const { taskId } = await call('SendMessage', { messageId: id('m'), text, waits: false })
    const events = stream('SubscribeToTask', { taskId })
    await events.received(1)
    await call('CancelTask', { taskId })
    await events.end()
    await call('GetTask', { taskId })
  }),
  ...across(allVariants, 'what a turn knows of its request', async ({ call, id }) => {
    const first = await call('SendMessage', { messageId: id('a'), text: 'about' })
    await call(
      'SendMessage',
      {
        messageId: id('b'),
        text: 'about',
        contextId: first.contextId,
        metadata: { trace: 't' },
        messageMetadata: { mood: 'good' },
        acceptedOutputModes: ['text/plain', 'image/*'],
        waits: null,
      },
      { extensions: ['https://parley.dev/extensions/timestamps/v1', 'https://example.com/unknown'] },
    )
  }),
  ...across(allVariants, 'a repeated message, and another with its id', async ({ call, id }) => {
    await call('SendMessage', { messageId: id('m'), text: 'once' })
    await call('SendMessage', { messageId: id('m'), text: 'once' })
    await call('SendMessage', { messageId: id('m'), text: 'twice' })
  }),
  ...across(newVariants, 'a message that refers to other tasks', async ({ call, id }) => {
    const { taskId } = await call('SendMessage', { messageId: id('a'), text: 'one' })
    const referenceTaskIds = [taskId, uuid('absent')]
    await call('SendMessage', { messageId: id('b'), text: 'about', referenceTaskIds })
  }),
  ...across(httpVariants, 'a message for an agent that is busy', async ({ call, stream, id, openGate }) => {
    const events = stream('SendStreamingMessage', { messageId: id('a'), text: `wait ${id('gate')}` }, { agent: 'busy' })
    const taskId = await events.received(2)
    await call('SendMessage', { messageId: id('b'), text: 'now', taskId }, { agent: 'busy' })
    openGate('gate')
    await events.end()
  }),
  ...across(newVariants, 'a message that waits for the turn before it', async ({ call, stream, id, openGate }) => {
    const events = stream('SendStreamingMessage', { messageId: id('a'), text: `wait ${id('gate')}` })
    const taskId = await events.received(2)
    await call('SendMessage', { messageId: id('b'), text: 'next', taskId, waits: false })
    openGate('gate')
    await events.end()
    await call('GetTask', { taskId })
  }),
]
