/** `listen.tls`: the hub serves HTTPS, sends HSTS, and loads a renewed certificate without a restart. */
import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { describe, it } from 'node:test'
import { selfSigned } from '../../packages/a2a/src/testing/fixtures/self-signed-certificate.ts'
import { newFolder, startHub } from './running-hub.ts'

interface Got {
  readonly status: number | undefined
  readonly hsts: string | undefined
}

function get(url: string, ca: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    request(url, { ca, agent: false }, (response) => {
      response.resume()
      resolve({ status: response.statusCode, hsts: response.headers['strict-transport-security'] })
    })
      .on('error', reject)
      .end()
  })
}

describe('a hub with TLS', { timeout: 120_000 }, () => {
  it('serves HTTPS, sends HSTS, and reloads its certificate at SIGHUP [B-172]', async () => {
    const [first, second] = [selfSigned('localhost'), selfSigned('localhost')]
    const folder = await newFolder({
      'cert.pem': first.cert,
      'key.pem': first.key,
      'parley.yaml': `
listen: { tls: { cert: ./cert.pem, key: ./key.pem } }
agents: { echo: { kind: demo, agent: echo } }
`,
    })
    const hub = await startHub(folder)
    assert.match(hub.url, /^https:/)
    const card = `${hub.url}/a2a/echo/.well-known/agent-card.json`
    const got = await get(card, first.cert)
    assert.deepEqual(got, { status: 200, hsts: 'max-age=31536000' })

    for (const [name, text] of [
      ['cert.pem', second.cert],
      ['key.pem', second.key],
    ] as const) {
      await writeFile(join(folder, `${name}.new`), text)
      await rename(join(folder, `${name}.new`), join(folder, name))
    }
    hub.signal('SIGHUP')
    await hub.waitForLine(/reloaded/)
    assert.equal((await get(card, second.cert)).status, 200)
    await assert.rejects(() => get(card, first.cert))
    await hub.stop()
  })

  it('refuses TLS versions older than 1.2 [B-172]', async () => {
    const { cert, key } = selfSigned('localhost')
    const folder = await newFolder({
      'parley.yaml':
        'agents: { echo: { kind: demo, agent: echo } }\nlisten: { tls: { cert: "${env:CERT}", key: "${env:KEY}", hsts: 1d } }\n',
    })
    const hub = await startHub(folder, [], { CERT: cert, KEY: key.replaceAll('\n', '\\n') })
    assert.match((await get(`${hub.url}/healthz`, cert)).hsts ?? '', /^max-age=86400/)
    const refused = await new Promise((resolve) => {
      const { port } = new URL(hub.url)
      const socket = connect({
        port: Number(port),
        host: '127.0.0.1',
        ca: cert,
        minVersion: 'TLSv1.1',
        maxVersion: 'TLSv1.1',
      })
      socket.once('error', () => resolve(true)).once('secureConnect', () => resolve(false))
    })
    assert.equal(refused, true)
    await hub.stop()
  })

  it('names the missing file', async () => {
    const folder = await newFolder({
      'parley.yaml':
        'agents: { echo: { kind: demo, agent: echo } }\nlisten: { tls: { cert: ./none.pem, key: ./none.pem } }\n',
    })
    await assert.rejects(() => startHub(folder), /listen\.tls\.cert: the file does not exist: \.\/none\.pem/)
  })
})
