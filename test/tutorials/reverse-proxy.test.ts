/**
 * docs/guides/reverse-proxy.md is correct: the configurations of nginx and Caddy run as printed, apart from ports and certificates,
 * in front of a hub with the configuration of the page.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, credentials } from '@grpc/grpc-js'
import { selfSigned } from '../../packages/a2a/src/testing/fixtures/self-signed-certificate.ts'
import { findOrInstall } from '../../scripts/debian.ts'
import { freePort } from '../free-port.ts'
import { newFolder, startHub } from '../hub/running-hub.ts'
import { readPage } from './describe-page.ts'
import { assertOutput } from './match-output.ts'
import { fencedBlocks } from './page-steps.ts'

const name = 'hub.example.com'
const blocks = fencedBlocks(readPage('docs/guides/reverse-proxy.md'))
const fileOnPage = (name: string): string => blocks.find(({ title }) => title === name)?.content ?? ''
const shell = blocks.filter(({ language }) => language === 'sh').map(({ content }) => content)
const cardOutput = blocks.find(({ language, title }) => language === 'text' && title === undefined)?.content ?? ''

/** An agent that says one word, and the other only when the test has seen the first. */
const gate = `
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
export async function* agent() {
  yield 'first '
  while (!existsSync(new URL('release', import.meta.url))) await sleep(20)
  yield 'second'
}
`

interface Proxied {
  readonly folder: string
  readonly port: number
  readonly cert: string
  /** The output of a shell command in which curl finds hub.example.com. */
  sh(script: string): string
}

type StartProxy = (place: {
  folder: string
  port: number
  httpPort: number
  ports: [number, number]
}) => readonly string[]

async function open(startProxy: StartProxy): Promise<Proxied> {
  const { cert, key } = selfSigned(name)
  const ports: [number, number] = [await freePort(), await freePort()]
  const folder = await newFolder({
    'fullchain.pem': cert,
    'privkey.pem': key,
    'gate.ts': gate,
    'package.json': '{ "type": "module" }',
    'parley.yaml': `${fileOnPage('parley.yaml').replace('[clock]', "'*'")}  gate: { kind: module, path: ./gate.ts }\n`,
  })
  await startHub(folder, ['--port', String(ports[0]), '--grpc-port', String(ports[1])])
  const [port, httpPort] = [await freePort(), await freePort()]
  await writeFile(
    join(folder, '.curlrc'),
    `connect-to = "hub.example.com:443:127.0.0.1:${port}"\ncacert = "${join(folder, 'fullchain.pem')}"\n`,
  )
  const [command = '', ...args] = startProxy({ folder, port, httpPort, ports })
  const proxy = spawn(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], env: { HOME: folder } })
  let said = ''
  proxy.stderr.on('data', (text: Buffer) => (said += text.toString()))
  after(() => proxy.kill('SIGKILL'))
  while (!(await accepts(port))) {
    assert.equal(proxy.exitCode, null, said)
    await sleep(50)
  }
  const env = { PATH: process.env['PATH'], CURL_HOME: folder }
  return { folder, port, cert, sh: (script) => execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }) }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function describeProxy(name: 'nginx' | 'caddy', startProxy: (program: string) => StartProxy): void {
  describe(`${name} before a hub, as docs/guides/reverse-proxy.md has it`, { timeout: 120_000 }, async () => {
    const place = await findOrInstall(name)
    const curl = await findOrInstall('curl')
    const skip = place === undefined || curl === undefined ? `${name} or curl is not installed` : false

    it('passes streams, large messages and gRPC on', { skip }, async (test) => {
      const proxied = await open(startProxy(join(place ?? '', name)))
      await test.test('passes the checks on the page', () => checkPage(proxied))
      await test.test('passes every event on at once', () => checkStream(proxied))
      await test.test('lets a message of 2 MB pass', () => checkLargeMessage(proxied))
      await test.test('passes gRPC on', () => checkGrpc(proxied))
    })
  })
}

function checkPage({ sh }: Proxied): void {
  const [card = '', stream = ''] = shell.filter((script) => script.startsWith('curl'))
  assertOutput(sh(card), { format: 'text', content: cardOutput })
  assert.match(sh(stream), /TASK_STATE_COMPLETED/)
}

async function checkStream({ folder }: Proxied): Promise<void> {
  const message = { messageId: 'gate', role: 'ROLE_USER', parts: [{ text: 'go' }] }
  const url = 'https://hub.example.com/a2a/gate/message:stream'
  const args = ['-sN', '-m', '60', url, '-H', 'Content-Type: application/json', '-d', JSON.stringify({ message })]
  const child = spawn('curl', args, { env: { PATH: process.env['PATH'], CURL_HOME: folder } })
  let text = ''
  for await (const chunk of child.stdout) {
    text += String(chunk)
    // The second word comes only after the first has arrived: with a proxy that buffers, curl gives up.
    if (text.includes('first ')) await writeFile(join(folder, 'release'), '')
  }
  assert.match(text, /second.*TASK_STATE_COMPLETED/s)
}

async function checkLargeMessage({ folder, sh }: Proxied): Promise<void> {
  const message = { messageId: 'large', role: 'ROLE_USER', parts: [{ text: '1'.padEnd(2_000_000) }] }
  await writeFile(join(folder, 'large.json'), JSON.stringify({ message }))
  const url = 'https://hub.example.com/a2a/clock/message:send'
  const status = `curl -s -o /dev/null -w '%{http_code}' ${url} -H 'Content-Type: application/json' -d @'${folder}/large.json'`
  assert.equal(sh(status), '200')
}

/** In raw bytes: the clients of A2A call the port that the card names, and this proxy has another. */
async function checkGrpc({ port, cert }: Proxied): Promise<void> {
  const field = (number: number, value: Buffer | string): Buffer =>
    Buffer.concat([Buffer.from([(number << 3) | 2, Buffer.byteLength(value)]), Buffer.from(value)])
  const role = Buffer.from([(4 << 3) | 0, 1])
  const message = Buffer.concat([field(1, 'grpc'), role, field(5, field(1, '1'))])
  const options = { 'grpc.ssl_target_name_override': name, 'grpc.default_authority': name }
  const client = new Client(`127.0.0.1:${port}`, credentials.createSsl(Buffer.from(cert)), options)
  const raw = (bytes: Buffer): Buffer => bytes
  const response = await new Promise<Buffer | undefined>((resolve, reject) => {
    client.makeUnaryRequest('/lf.a2a.v1.A2AService/SendMessage', raw, raw, field(2, message), (error, value) =>
      error === null ? resolve(value) : reject(error),
    )
  }).finally(() => client.close())
  assert.ok(response?.includes('ticks'), 'the answer has no artifact of the agent clock')
}

describeProxy('nginx', (program) => ({ folder, port, httpPort, ports }) => {
  const site = fileOnPage('parley.conf')
    .replace('listen 443', `listen ${port}`)
    .replace('listen 80', `listen ${httpPort}`)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${ports[0]}`)
    .replaceAll('127.0.0.1:3001', `127.0.0.1:${ports[1]}`)
    .replaceAll('/etc/letsencrypt/live/hub.example.com', folder)
  // What Debian has in nginx.conf, with the paths of a process that is not installed.
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const whole = `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
events {}
http { access_log off; gzip on; ${paths.join(' ')}
${site}}`
  execFileSync('sh', ['-c', `cat > '${folder}/nginx.conf'`], { input: whole })
  const command = [program, '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]
  execFileSync(command[0] as string, [...command.slice(1), '-t'], { stdio: 'pipe' })
  return command
})

describeProxy('caddy', (program) => ({ folder, port, ports }) => {
  const site = fileOnPage('Caddyfile')
    .replace('hub.example.com {', `hub.example.com:${port} {\n\ttls ${folder}/fullchain.pem ${folder}/privkey.pem`)
    .replace('127.0.0.1:3000', `127.0.0.1:${ports[0]}`)
    .replace('127.0.0.1:3001', `127.0.0.1:${ports[1]}`)
  const whole = `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`
  execFileSync('sh', ['-c', `cat > '${folder}/Caddyfile'`], { input: whole })
  const config = ['--config', join(folder, 'Caddyfile')]
  execFileSync(program, ['validate', ...config], { stdio: 'pipe', env: { HOME: folder } })
  return [program, 'run', ...config]
})
