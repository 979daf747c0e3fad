/** Push notification configs, and the notifications that a webhook receives. */
import { across, allVariants, type Conversation, legacyVariants, newVariants } from '../conversation.ts'

const url = 'http://127.0.0.1:9/hook'
const absent = '0190aaaa-0000-7000-8000-000000000000'

export const push: readonly Conversation[] = [
  ...across(allVariants, 'a config is set, read, listed, replaced and deleted', async ({ call, id }) => {
    const { taskId } = await call('SendMessage', { messageId: id('m'), text: 'ask' })
    const secrets = { token: 'tok-123', scheme: 'Bearer', credentials: 'cred-456' }
    await call('CreatePushConfig', { taskId, push: { id: 'one', url, ...secrets } })
    await call('CreatePushConfig', { taskId, push: { id: 'two', url } })
    await call('CreatePushConfig', { taskId, push: { id: 'two', url: `${url}/2` } })
    await call('GetPushConfig', { taskId, pushConfigId: 'one' })
    await call('ListPushConfigs', { taskId })
    await call('DeletePushConfig', { taskId, pushConfigId: 'one' })
    await call('DeletePushConfig', { taskId, pushConfigId: 'one' })
    await call('GetPushConfig', { taskId, pushConfigId: 'one' })
    await call('ListPushConfigs', { taskId: absent })
    await call('CreatePushConfig', { taskId: absent, push: { id: 'one', url } })
  }),
  ...across(allVariants, 'configs with addresses that are refused', async ({ call, id }) => {
    const { taskId } = await call('SendMessage', { messageId: id('m'), text: 'ask' })
    for (const refused of ['', 'not a url', 'ftp://127.0.0.1/x', 'http://10.0.0.1/x', 'http://example.com/x'])
      await call('CreatePushConfig', { taskId, push: { id: 'one', url: refused } })
  }),
  ...across(newVariants, 'configs in pages', async ({ call, id }) => {
    const { taskId } = await call('SendMessage', { messageId: id('m'), text: 'ask' })
    for (const name of ['a', 'b', 'c']) await call('CreatePushConfig', { taskId, push: { id: name, url } })
    const { nextPageToken } = await call('ListPushConfigs', { taskId, pageSize: 2 })
    await call('ListPushConfigs', { taskId, pageSize: 2, pageToken: nextPageToken })
  }),
  ...across(newVariants, 'a webhook in a send is called with every event', async (talk) => {
    const { call, hooks, hookUrl, id } = talk
    const hook = { id: 'one', url: hookUrl(), token: 'tok-123', scheme: 'Bearer', credentials: 'cred-456' }
    const { taskId } = await call('SendMessage', { messageId: id('a'), text: 'ask', push: hook })
    await call('SendMessage', { messageId: id('b'), text: 'Oslo', taskId })
    await hooks(6)
  }),
  // 0.x sends the task as it is at the time of the delivery, so only the last notification has one content.
  ...across(legacyVariants, 'a webhook in a send is called with the task', async (talk) => {
    const { call, hooks, hookUrl, id } = talk
    const hook = { id: 'one', url: hookUrl(), token: 'tok-123', scheme: 'Bearer', credentials: 'cred-456' }
    await call('SendMessage', { messageId: id('a'), text: 'chunks', push: hook })
    await hooks(1, /"completed"/)
  }),
  ...across(allVariants, 'a webhook of a waiting task is called after a cancel', async (talk) => {
    const { call, hooks, hookUrl, id } = talk
    const { taskId } = await call('SendMessage', { messageId: id('a'), text: 'ask' })
    await call('CreatePushConfig', { taskId, push: { id: 'one', url: hookUrl() } })
    await call('CancelTask', { taskId })
    await hooks(1)
  }),
  ...across(newVariants, 'a notification is repeated after a failure', async ({ call, hooks, hookUrl, id }) => {
    const { taskId } = await call('SendMessage', { messageId: id('a'), text: 'ask' })
    await call('CreatePushConfig', { taskId, push: { id: 'one', url: hookUrl('failing') } })
    await call('CancelTask', { taskId })
    await hooks(2, /^/, 'failing')
  }),
  ...across(allVariants, 'webhooks are disabled', async ({ call, id }) => {
    const { taskId } = await call('SendMessage', { messageId: id('m'), text: 'ask' }, { as: 'ann' })
    await call('CreatePushConfig', { taskId, push: { id: 'one', url } }, { as: 'ann' })
    await call('ListPushConfigs', { taskId }, { as: 'ann' })
    await call('SendMessage', { messageId: id('n'), text: 'ask', push: { url } }, { as: 'ann' })
  }),
]
