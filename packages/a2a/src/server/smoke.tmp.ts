import { createHandler } from './index.ts'
import { memoryStore } from '../stores/memory.ts'
const h = createHandler({ store: memoryStore(), name: 'Greeter', async *agent({ text }) { yield `Hello, ${text}!` } })
await h.ready
const post = async (body: unknown, headers = {}) => { const r = await h.fetch(new Request('http://localhost/a2a', { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })); return [r.status, Object.fromEntries(r.headers), await r.text()] }
console.log(await post({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } } }))
console.log(await post({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message: { messageId: 'm2', role: 'ROLE_USER', parts: [{ text: 'hi' }] } } }))
console.log(await post({ jsonrpc: '2.0', id: 1, method: 'Nope' }))
console.log(await post({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: { messageId: 'm4', role: 'user', parts: [{ kind:'text', text: 'hi' }] } } }))
console.log(await post([]))
for (const p of ['/.well-known/agent-card.json', '/.well-known/agent.json', '/tasks', '/tasks/x', '/nothing', '/v1/tasks/x', '/healthz', '/readyz', '/extendedAgentCard', '/message:send']) { const r = await h.fetch(new Request('http://localhost' + p)); console.log(p, r.status, Object.fromEntries(r.headers), await r.text()) }
await h.close()
