/** Callers without credentials, with wrong ones, without permission, and over their limit. */
import { across, allVariants, type Conversation, once } from '../conversation.ts'

export const access: readonly Conversation[] = [
  ...across(allVariants, 'calls without credentials', async ({ call, id }) => {
    await call('SendMessage', { messageId: id('a'), text: 'hi' }, { as: 'nobody' })
    await call('SendStreamingMessage', { messageId: id('b'), text: 'hi' }, { as: 'nobody' })
    await call('GetTask', { taskId: 'x' }, { as: 'nobody' })
    await call('SendMessage', { messageId: id('c'), text: 'hi' }, { as: 'nobody', agent: 'absent' })
  }),
  ...across(allVariants, 'credentials that are wrong', async ({ call, id }) => {
    for (const authorization of ['Bearer wrong', 'Bearer ', 'Basic YTpi', 'nonsense'])
      await call('SendMessage', { messageId: id('a'), text: 'hi' }, { as: 'nobody', headers: { authorization } })
  }),
  ...across(allVariants, 'a caller without permission for an agent', async ({ call, id }) => {
    await call('SendMessage', { messageId: id('a'), text: 'hi' }, { as: 'bob' })
    await call('SendMessage', { messageId: id('b'), text: 'hi' }, { as: 'bob', agent: 'secret' })
    await call('SendStreamingMessage', { messageId: id('c'), text: 'hi' }, { as: 'bob', agent: 'secret' })
    await call('SendMessage', { messageId: id('d'), text: 'about' }, { as: 'ann', agent: 'secret' })
  }),
  ...once('a caller over its limit', async ({ http, grpc, id }) => {
    const message = { messageId: id('a'), role: 'ROLE_USER', parts: [{ text: 'hi' }] }
    const headers = { 'a2a-version': '1.0' }
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    await http('POST', '/a2a/main', { headers, body, as: 'eve' })
    await http('POST', '/a2a/main', { headers, body, as: 'eve' })
    await http('POST', '/a2a/main/message:send', { headers, body: { message }, as: 'eve' })
    const old = {
      message: { kind: 'message', messageId: id('b'), role: 'user', parts: [{ kind: 'text', text: 'hi' }] },
    }
    await http('POST', '/a2a/main', { body: { jsonrpc: '2.0', id: 1, method: 'message/send', params: old }, as: 'eve' })
    const metadata = { ...headers, 'x-parley-agent': 'main' }
    await grpc('/lf.a2a.v1.A2AService/SendMessage', { message }, { headers: metadata, as: 'eve' })
  }),
]
