/** `task download --fetch-urls`: the agent chooses the URLs. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { runInMemory } from '../../testing/memory-terminal.ts'
import { readBytes } from '../../agent/answer-limit.ts'

describe('task download --fetch-urls', async () => {
  const received: { readonly path: string; readonly authorization: string | undefined }[] = []
  const server = createServer(({ url: path = '', headers }, response) => {
    received.push({ path, authorization: headers.authorization })
    if (path === '/small') return void response.end('small')
    if (path === '/moved') return void response.writeHead(302, { location: '/small' }).end()
    if (path === '/endless') {
      const chunk = Buffer.alloc(1_000_000)
      const write = (): void => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', write)
      return write()
    }
    const id = /\/([\w-]+)\?/.exec(path)?.[1] ?? ''
    const part = { url: Buffer.from(id, 'base64url').toString(), filename: 'x' }
    const task = { id, contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ...task, artifacts: [{ artifactId: 'a', parts: [part] }] }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  async function download(url: string) {
    const cwd = mkdtempSync(join(tmpdir(), 'parley-cli-'))
    const id = Buffer.from(url).toString('base64url')
    const agent = ['-e', `${origin}/agent`, '--transport', 'rest', '--bearer', 'secret-token']
    return { cwd, ...(await runInMemory(['task', 'download', id, ...agent, '--fetch-urls', '-o', 'json'], { cwd })) }
  }

  it('fetches from the host of the agent, without credentials', async () => {
    const { cwd, code, stdout } = await download(`${origin}/small`)
    assert.equal(code, 0, stdout)
    assert.equal(readFileSync(join(cwd, 'x'), 'utf8'), 'small')
    assert.deepEqual(
      received.map(({ authorization }) => authorization),
      ['Bearer secret-token', undefined],
    )
  })

  for (const [url, message] of [
    ['file:///etc/passwd', /no web address/],
    ['/etc/passwd', /no web address/],
    ['http://127.0.0.2:9/', /cannot be fetched/],
    [`${origin}/moved`, /HTTP 302/],
    [`${origin}/endless`, /larger than 256.0 MB/],
  ] as const)
    it(
      `saves nothing of ${url.replace(origin, '')}${url.endsWith('/endless') ? ' [full]' : ''}`,
      { timeout: 120_000 },
      async () => {
        const { cwd, code, stdout } = await download(url)
        assert.notEqual(code, 0)
        assert.match((JSON.parse(stdout) as { readonly error: { readonly message: string } }).error.message, message)
        assert.deepEqual(readdirSync(cwd), [])
      },
    )

  it('ends at the limit of a response without an end', async () => {
    let sent = 0
    const endless = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array((sent += 1_000) && 1_000)) })
    await assert.rejects(readBytes(new Response(endless), 'http://x/', 10_000), /larger than 10.0 kB/i)
    assert.ok(sent < 20_000)
  })
})
