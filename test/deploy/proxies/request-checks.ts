/** Single requests through a proxy: TLS, the page's commands, forwarded addresses, sizes, malformed requests, connections. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { defaultServerLimits } from '../project-imports.ts'
import { newFolder } from '../../hub/running-hub.ts'
import { assertOutput } from '../../journeys/pages/match-output.ts'
import { answeringHub, messageTo } from './proxied.ts'
import type { Proxied } from './proxied.ts'
import { adminKey, pageBlocks } from './proxied-hub.ts'

const json = ['-H', 'Content-Type: application/json', '-H', 'A2A-Version: 1.0']

export function checkRequests(proxied: () => Proxied): void {
  it('passes the checks of the page: cards name the public address, and a stream comes to its end', async () => {
    const { url, sh } = proxied()
    const host = new URL(url).host
    const here = (text: string): string =>
      text.replaceAll('hub.example.com:443', host).replaceAll('hub.example.com', host)
    const [card, stream] = pageBlocks.filter(({ content }) => content.startsWith('curl'))
    const output = pageBlocks.find(({ language, title }) => language === 'text' && title === undefined)
    assertOutput(await sh(here(card?.content ?? '')), { format: 'text', content: here(output?.content ?? '') })
    assert.match(await sh(here(stream?.content ?? '')), /TASK_STATE_COMPLETED/)
  })

  it('redirects plain HTTP to HTTPS', async () => {
    const { httpUrl, curl } = proxied()
    const answer = await curl('-o', '/dev/null', '-w', '%{http_code} %{redirect_url}', `${httpUrl}/a2a/clock`)
    assert.match(answer, /^30[18] https:\/\/localhost\S*\/a2a\/clock$/)
  })

  it('uses TLS 1.2 or newer, and HTTP/2 for clients that speak it', async () => {
    const { url, curl } = proxied()
    assert.equal(await curl('-o', '/dev/null', '-w', '%{http_version}', `${url}/healthz`), '2')
    await assert.rejects(curl('--tls-max', '1.1', `${url}/healthz`))
  })

  it('lets the hub decide on sizes: a body of the limit passes, one byte more gets an error of the protocol', async () => {
    const { url, curl } = proxied()
    const limit = defaultServerLimits.bodyBytes
    const folder = await newFolder()
    const message = (text: string): object => ({ messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] })
    const rest = (text: string): object => ({ message: message(text) })
    const rpc = (text: string): object => ({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: rest(text) })
    for (const [path, body] of [
      ['/a2a/whoami/message:send', rest],
      ['/a2a/whoami', rpc],
    ] as const) {
      const send = async (bytes: number): Promise<string> => {
        const text = 'x'.repeat(bytes - JSON.stringify(body('')).length)
        await writeFile(join(folder, 'body.json'), JSON.stringify(body(text)))
        return curl('-w', ' %{http_code}', `${url}${path}`, ...json, '--data-binary', `@${folder}/body.json`)
      }
      // Once is enough: the hub needs seconds for such a message.
      if (body === rest) assert.match(await send(limit), /one received \d{8} characters.* 200$/s)
      const refused = await send(limit + 1)
      assert.match(refused, /The body is larger than 20000000 bytes/)
      assert.match(refused, path.endsWith('send') ? /^\{"error":\{"code":413,.* 413$/s : /^\{"jsonrpc":"2.0",/)
    }
  })

  it('passes a response of 12 MB on whole', async () => {
    const answer = await proxied().curl(...messageTo(proxied(), 'large', '12000000'))
    const { task } = JSON.parse(answer) as { task: { artifacts: { parts: { text: string }[] }[] } }
    assert.equal(task.artifacts[0]?.parts.map(({ text }) => text).join(''), 'x'.repeat(12_000_000))
  })

  it('refuses two lengths of one body, and lets no request hide in the body of another', async () => {
    const { tap, sendRaw } = proxied()
    tap.clear()
    const head =
      'POST /a2a/whoami HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n'
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const twice = await sendRaw(`${head}Content-Length: 4\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`)
    assert.match(twice, /^HTTP\/1\.1 400 /)
    const both = `Content-Length: ${hidden.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`
    // nginx refuses it. Caddy follows RFC 9112 6.1: the chunks count, and the connection ends after the response.
    assert.equal((await sendRaw(head + both)).match(/^HTTP\/1\.1 /gm)?.length, 1)
    const obscured = await sendRaw(`${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`)
    assert.match(obscured, /^HTTP\/1\.1 (400|501) /)
    assert.deepEqual(
      tap.heads().filter((request) => request.includes('/hidden')),
      [],
    )
    assert.ok(
      tap
        .heads()
        .every((request) => !/content-length.*transfer-encoding|transfer-encoding.*content-length/is.test(request)),
    )
  })

  it('uses few connections to the hub for many requests', async () => {
    const { url, tap, curl } = proxied()
    tap.clear()
    const urls = Array.from({ length: 20 }, (_, n) => `${url}/healthz?${n}`)
    const codes = await curl('-w', '%{http_code} ', ...urls.flatMap((one) => ['-o', '/dev/null', one]))
    assert.equal(codes, '200 '.repeat(20))
    assert.equal(tap.heads().filter((head) => head.includes('/healthz?')).length, 20)
    assert.ok(tap.sent.filter((text) => text.includes('/healthz?')).length <= 2, `${tap.sent.length} connections`)
  })

  it('replaces forwarded headers that a client sends', async () => {
    const { url, tap, curl } = proxied()
    tap.clear()
    await curl('--interface', '127.0.0.2', `${url}/healthz`, ...spoofed('9.9.9.9'))
    const head = tap.heads().find((one) => one.includes('/healthz')) ?? ''
    assert.match(head, /^x-forwarded-for: 127\.0\.0\.2\r$/im)
    assert.match(head, /^x-forwarded-proto: https\r$/im)
    assert.match(head, /^x-forwarded-host: localhost(:\d+)?\r$/im)
    assert.doesNotMatch(head, /9\.9\.9\.9|evil/)
  })
}

const spoofed = (address: string): readonly string[] => [
  ...['-H', `X-Forwarded-For: ${address}`, '-H', 'X-Forwarded-Host: evil.example'],
  ...['-H', 'X-Forwarded-Proto: gopher'],
]

/** With the other hub behind the proxy: it has no `publicUrl`, and a limit per address. */
export function checkForwardedAddresses(proxied: () => Proxied): void {
  it('tells the hub where it is and who calls: cards, limits per address and the audit', async () => {
    const world = proxied()
    const { url, otherHub, curl } = world
    await world.proxy.reload({ http: [otherHub.http], grpc: [otherHub.grpc] })
    // Until its new processes answer. They count as requests of this address.
    while ((await answeringHub(world, '--interface', '127.0.0.9')) !== 'two');

    const card = await curl(
      `${url}/a2a/whoami/.well-known/agent-card.json`,
      '--interface',
      '127.0.0.8',
      ...spoofed('9.9.9.9'),
    )
    assert.match(card, /"url":"https:\/\/localhost(:\d+)?\/a2a\/whoami/)
    assert.doesNotMatch(card, /evil|gopher|127\.0\.0\.1/)

    const callFrom = async (address: string, pretended: string): Promise<string> => {
      const args = ['-o', '/dev/null', '-w', '%{http_code}', '--interface', address, ...spoofed(pretended)]
      return curl(...args, ...messageTo(world, 'whoami', 'x'))
    }
    const codes: string[] = []
    for (let n = 0; n < 40 && codes.at(-1) !== '429'; n += 1) codes.push(await callFrom('127.0.0.2', `9.9.9.${n}`))
    assert.equal(codes.filter((code) => code === '200').length, codes.length - 1)
    assert.equal(codes.at(-1), '429', 'a client gets another limit by a header')
    assert.equal(await callFrom('127.0.0.3', '127.0.0.2'), '200', 'clients share the limit of the proxy')

    const audit = await curl(`${url}/admin/audit?limit=100`, '-H', `Authorization: Bearer ${adminKey}`)
    const { entries } = JSON.parse(audit) as { entries: readonly { from?: string; agent?: string; event: string }[] }
    const requests = entries.filter(({ agent, event }) => agent === 'whoami' && event !== 'task.state')
    const callers = new Set(requests.map(({ from }) => from))
    assert.deepEqual(callers, new Set(['127.0.0.2', '127.0.0.3']))
  })
}
