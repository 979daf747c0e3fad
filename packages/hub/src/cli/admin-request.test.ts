import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:http2'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { runCli } from './run.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

async function listen(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function status(url: string) {
  const terminal = createTestTerminal({ environment: { PARLEY_ADMIN_KEY: 'an-admin-key-of-32-characters' } })
  return { code: await runCli(['status', '--url', url], terminal), errors: terminal.errors }
}

describe('a request to a hub', () => {
  it('names the HTTP port as the remedy if it reaches a gRPC port, and http:// if there is no TLS', async (t) => {
    const grpc = `http://${await listen(t, createServer())}`
    assert.deepEqual((await status(grpc)).errors, [
      `${grpc} does not speak HTTP/1.1, as the gRPC port of a hub: name the HTTP port of the hub with --url.`,
    ])
    const plain = `https://${await listen(t, createHttpServer())}`
    assert.deepEqual((await status(plain)).errors, [`${plain} does not speak TLS: name the hub with http:// in --url.`])
  })

  it('in another folder than that of the hub names no key to rotate there', async (t) => {
    const cwd = mkdtempSync(join(tmpdir(), 'parley-folder-'))
    t.after(() => rmSync(cwd, { recursive: true }))
    const hub = createHttpServer((_, response) => void response.end('{"status":"ok"}'))
    const [host, port = ''] = (await listen(t, hub)).split(':')
    const run = async () => {
      const terminal = createTestTerminal({ cwd })
      assert.equal(await runCli(['status', '--port', port], terminal), 4)
      return terminal.errors.join()
    }
    const dataDir = join(cwd, '.parley')
    const elsewhere = await run()
    assert.ok(
      elsewhere.startsWith(`A hub runs at http://${host}:${port}, but not in ${dataDir}, which does not exist.`),
    )
    assert.doesNotMatch(elsewhere, /key rotate/)
    mkdirSync(dataDir)
    assert.match(await run(), /its admin key is not in .*key rotate admin/)
  })
})
