import { createHandler } from './index.ts'
import { memoryStore } from '../stores/memory.ts'
import { reply } from '../agents/reports.ts'
const h = createHandler({ store: memoryStore(), name: 'Greeter', agent: ({ text }) => reply(`Hello, ${text}!`) })
await h.ready; const m = { message: { messageId: "x", contextId: "c", role: "ROLE_AGENT", parts: [{ text: "Hello" }] } } as const; (h.engine as any).sendMessage = async () => m
let n = 0
const headers = { host: 'localhost:3000', 'content-type': 'application/json', 'a2a-version': '1.0' }
function one(): Promise<void> {
  return new Promise((resolve) => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { messageId: `m${n++}`, role: 'ROLE_USER', parts: [{ text: 'hi' }] } } }))
    const on: Record<string, any> = {}
    const req: any = { method: 'POST', url: '/a2a', headers, socket: {}, readableEnded: false, destroyed: false, on(e: string, f: any) { on[e] = f } }
    const res: any = { headersSent: false, destroyed: false, writeHead() {}, end(b: string) { resolve() }, on() {} }
    h.node(req, res)
    on.data(body); on.end()
  })
}
for (let r = 0; r < 5; r++) {
  const t = process.hrtime.bigint(); const c = process.cpuUsage()
  for (let i = 0; i < 40000; i++) await one()
  console.log(Number(process.hrtime.bigint() - t) / 40000 / 1000, 'µs', process.cpuUsage(c).user / 40000)
}
await h.close()
