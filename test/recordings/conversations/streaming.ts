/** Streams: of a message, of a task again, from a position, of tasks that have ended. */
import { across, allVariants, type Conversation, httpVariants, newVariants } from '../conversation.ts'

const cursorExtension = 'https://parley.dev/extensions/cursor/v1'
const timestampsExtension = 'https://parley.dev/extensions/timestamps/v1'

export const streaming: readonly Conversation[] = [
  ...across(allVariants, 'streams of every kind of report', async ({ call, id }) => {
    for (const text of ['hello', 'chunks', 'artifacts', 'parts', 'status', 'nothing'])
      await call('SendStreamingMessage', { messageId: id(text), text })
  }),
  ...across(allVariants, 'streams that end early', async ({ call, id }) => {
    for (const text of ['fail', 'reject', 'throw', 'late-throw', 'reply now', 'ask'])
      await call('SendStreamingMessage', { messageId: id(text.slice(0, 5)), text })
  }),
  ...across(allVariants, 'a stream that stays open for credentials until a cancel', async ({ call, stream, id }) => {
    const events = stream('SendStreamingMessage', { messageId: id('a'), text: 'auth' })
    const taskId = await events.received(3)
    await call('CancelTask', { taskId })
    await events.end()
  }),
  ...across(allVariants, 'a stream with positions and times', async ({ call, id }) => {
    const extensions = [cursorExtension, timestampsExtension]
    await call('SendStreamingMessage', { messageId: id('m'), text: 'chunks' }, { extensions })
  }),
  ...across(allVariants, 'a stream of several turns', async ({ call, id }) => {
    const { taskId } = await call('SendStreamingMessage', { messageId: id('a'), text: 'ask' })
    await call('SendStreamingMessage', { messageId: id('b'), text: 'Oslo', taskId })
    await call('SendStreamingMessage', { messageId: id('c'), text: 'too late', taskId })
  }),
  ...across(allVariants, 'a client leaves, subscribes again and reads on', async ({ stream, id, openGate }) => {
    const first = stream('SendStreamingMessage', { messageId: id('m'), text: `hold ${id('gate')}` })
    const taskId = await first.received(3)
    await first.leave(3)
    const second = stream('SubscribeToTask', { taskId })
    await second.received(1)
    openGate('gate')
    await second.received(2)
    openGate('again-gate')
    await second.end()
  }),
  ...across(httpVariants, 'a client subscribes again from a position', async ({ stream, id, openGate, call }) => {
    const gate = id('gate')
    const first = stream('SendStreamingMessage', { messageId: id('m'), text: `hold ${gate}` })
    const taskId = await first.received(3)
    const second = stream('SubscribeToTask', { taskId }, { lastEventId: '2' })
    await second.received(1)
    openGate('gate')
    await first.received(4)
    await second.received(2)
    openGate('again-gate')
    await first.end()
    await second.end()
    await call('SubscribeToTask', { taskId }, { lastEventId: '3' })
    await call('SubscribeToTask', { taskId }, { lastEventId: 'x' })
    await call('SubscribeToTask', { taskId }, { lastEventId: '99' })
  }),
  ...across(allVariants, 'a subscription to a task that has ended, asks, or is absent', async ({ call, id }) => {
    const ended = await call('SendMessage', { messageId: id('a'), text: 'hello' })
    await call('SubscribeToTask', { taskId: ended.taskId })
    await call('SubscribeToTask', { taskId: '0190aaaa-0000-7000-8000-000000000000' })
  }),
  ...across(newVariants, 'two clients of one task', async ({ call, stream, id, openGate }) => {
    const sent = stream('SendStreamingMessage', { messageId: id('m'), text: `wait ${id('gate')}` })
    const taskId = await sent.received(2)
    const watched = stream('SubscribeToTask', { taskId })
    await watched.received(1)
    openGate('gate')
    await sent.end()
    await watched.end()
    await call('GetTask', { taskId })
  }),
  ...across(allVariants, 'an agent that does not stream', async ({ call, id }) => {
    await call('SendStreamingMessage', { messageId: id('a'), text: 'hello' }, { agent: 'plain' })
    const { taskId } = await call('SendMessage', { messageId: id('b'), text: 'hello' }, { agent: 'plain' })
    await call('SubscribeToTask', { taskId }, { agent: 'plain' })
  }),
]
