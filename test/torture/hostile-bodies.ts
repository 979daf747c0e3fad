/** Requests that no client should send. The answer is not looked at: the hub must survive, and its crashes are counted. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const message = (parts: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"${crypto.randomUUID()}","role":"ROLE_USER","parts":${parts}}}}`

const bodies: readonly (() => string | Buffer)[] = [
  () => '',
  () => '{',
  () => 'null',
  () => '['.repeat(50_000),
  () => message(`[${'{"text":"x"},'.repeat(5_000)}{"text":"x"}]`),
  () => message(`[{"data":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}]`),
  () => message(`[{"data":{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":1`).join()}}}]`),
  () => message('[{"text":"\\ud800"}]'),
  () => message('[{"text":{"__proto__":{"x":1}}}]'),
  () => Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc3]),
  () => `[${Array.from({ length: 500 }, () => message('[]')).join()}]`,
]

export async function sendHostileBody(url: string, random: () => number): Promise<void> {
  const body = (bodies[Math.floor(random() * bodies.length)] as () => string | Buffer)()
  if (random() < 0.3) return cutOff(url, body)
  const headers = { 'content-type': random() < 0.8 ? 'application/json' : 'text/plain', 'a2a-version': '1.0' }
  const signal = AbortSignal.timeout(10_000)
  await fetch(`${url}/a2a/counter`, { method: 'POST', headers, body, signal })
    .then((response) => response.arrayBuffer())
    .catch(() => {})
}

/** Promises more than it sends, and hangs up. */
async function cutOff(url: string, body: string | Buffer): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  socket.write(
    `POST /a2a/counter HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: 100000000\r\n\r\n`,
  )
  socket.write(body)
  await sleep(100)
  socket.resetAndDestroy()
}
