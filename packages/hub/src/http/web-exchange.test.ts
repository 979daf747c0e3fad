import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, it } from 'node:test'
import { readBody } from './web-exchange.ts'

const server = createServer((request, response) => {
  void readBody(request, 100_000).then((body) => {
    response.writeHead(body === undefined ? 413 : 200).end(String(body?.length))
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())

it('a body over the limit is answered at once, and the connection lives on', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => (received += text))
  const receive = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(received)) await once(socket, 'data')
  }
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5000000\r\n\r\n')
  socket.write('x'.repeat(200_000))
  await receive(/^HTTP\/1\.1 413/)
  socket.write('x'.repeat(4_800_000))
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc')
  await receive(/HTTP\/1\.1 200[^]*\r\n\r\n(1\r\n)?3/)
  socket.destroy()
})
