/** Lists of tasks: filters, pages, what each holds. 0.x has no lists. */
import { across, type Conversation, newVariants, once } from '../conversation.ts'

export const listing: readonly Conversation[] = [
  ...across(newVariants, 'the tasks of one context, in pages', async ({ call, id }) => {
    const { contextId } = await call('SendMessage', { messageId: id('a'), text: 'hello' })
    await call('SendMessage', { messageId: id('b'), text: 'fail', contextId })
    await call('SendMessage', { messageId: id('c'), text: 'ask', contextId })
    const first = await call('ListTasks', { contextId, pageSize: 2 })
    await call('ListTasks', { contextId, pageSize: 2, pageToken: first.nextPageToken })
    await call('ListTasks', { contextId, status: 'TASK_STATE_FAILED' })
    await call('ListTasks', { contextId, includeArtifacts: true, historyLength: 5 })
    await call('ListTasks', { contextId, historyLength: 0 })
  }),
  ...across(newVariants, 'lists that are empty or refused', async ({ call, id }) => {
    await call('ListTasks', { contextId: id('absent') })
    await call('ListTasks', { contextId: id('absent'), pageSize: 0 })
    await call('ListTasks', { contextId: id('absent'), pageSize: 101 })
    await call('ListTasks', { pageToken: 'not a token' })
    await call('ListTasks', { contextId: id('absent'), historyLength: -1 })
  }),
  ...across(newVariants, 'a caller sees its own tasks alone', async ({ call, id }) => {
    const { taskId, contextId } = await call('SendMessage', { messageId: id('a'), text: 'hello' }, { as: 'ann' })
    await call('ListTasks', { contextId }, { as: 'ann' })
    await call('ListTasks', { contextId }, { as: 'bob' })
    await call('GetTask', { taskId }, { as: 'bob' })
    await call('CancelTask', { taskId }, { as: 'bob' })
    await call('SendMessage', { messageId: id('b'), text: 'mine', taskId }, { as: 'bob' })
  }),
  ...once('a list by REST with fields that are wrong', async ({ http }) => {
    const headers = { 'a2a-version': '1.0' }
    for (const query of ['status=PAUSED', 'pageSize=two', 'includeArtifacts=maybe', 'statusTimestampAfter=noon', 'x=1'])
      await http('GET', `/a2a/main/tasks?${query}&contextId=absent`, { headers })
  }),
]
