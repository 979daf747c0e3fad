// node load.tmp.ts server|bare|client port
import http from 'node:http'
import net from 'node:net'
const [, , what, portText] = process.argv
const port = Number(portText)
if (what === 'bare') {
  http.createServer((req, res) => { const c: Buffer[] = []; req.on('data', (d) => c.push(d)); req.on('end', () => { const v = JSON.parse(Buffer.concat(c).toString()); const b = JSON.stringify({ jsonrpc: '2.0', id: v.id, result: v.params }); res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(b) }); res.end(b) }) }).listen(port)
} else if (what === 'server') {
  const { createHandler } = await import('./index.ts')
  const { memoryStore } = await import('../stores/memory.ts')
  const { reply } = await import('../agents/reports.ts')
  const h = createHandler({ store: memoryStore(), name: 'G', agent: ({ text }) => reply(`Hello, ${text}!`) })
  if (process.argv[4]) { await h.ready; const m = { message: { messageId: "x", contextId: "c", role: "ROLE_AGENT", parts: [{ text: "Hello" }] } } as const; (h.engine as any).sendMessage = async () => m }
  http.createServer(h.node).listen(port)
} else {
  let n = 0, done = 0
  const make = () => { const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: { messageId: `m${process.pid}-${n++}`, role: 'ROLE_USER', parts: [{ text: 'hi' }] } } }); return `POST /a2a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nContent-Length: ${body.length}\r\n\r\n${body}` }
  let stop = false
  for (let i = 0; i < 32; i++) { const s = net.connect(port, '127.0.0.1'); s.setNoDelay(true); let buf = ''; s.on('connect', () => s.write(make())); s.on('data', (d) => { buf += d; const h = buf.indexOf('\r\n\r\n'); if (h < 0) return; const m = /content-length: (\d+)/i.exec(buf)!; if (buf.length < h + 4 + Number(m[1])) return; buf = ''; done++; if (!stop) s.write(make()) }) }
  const measure = async () => { const d = done, t = Date.now(); await new Promise((r) => setTimeout(r, 3000)); return ((done - d) / (Date.now() - t)) * 1000 }
  await new Promise((r) => setTimeout(r, 1500))
  console.log(Math.round(await measure()), 'req/s'); process.exit()
}
