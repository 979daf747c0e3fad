/** The export of the audit by a running hub: to a file that survives kill -9, to a webhook, to stdout, and by `parley audit export`. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { createServer } from 'node:http'
import { readFile, rename } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { runCli } from '../../packages/hub/src/cli/run.ts'
import { createTestTerminal } from '../../packages/hub/src/cli/testing/test-terminal.ts'
import { webhookSignature } from '../../packages/hub/src/audit/audit-webhook-sink.ts'
import { waitFor } from '../admin/test-hub.ts'
import { freePort } from '../free-port.ts'
import { newFolder, startHub, type RunningHub } from './running-hub.ts'

interface Line {
  readonly id: string
  readonly at: string
  readonly event: string
  readonly task?: string
  readonly operation?: string
}

const program = join(import.meta.dirname, '../../packages/hub/src/cli/main.ts')
const fullDiskSkipReason = existsSync('/dev/full') ? false : 'there is no /dev/full'
const agents = 'agents:\n  echo: { kind: demo, agent: echo }\n'

function linesOf(text: string): readonly Line[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]))
}

async function ask(hub: Pick<RunningHub, 'url'>, texts: readonly string[]): Promise<readonly string[]> {
  const agent = await connect(`${hub.url}/a2a/echo`)
  const tasks: string[] = []
  for (const text of texts) {
    const answer = await agent.send(text)
    assert.ok('id' in answer)
    tasks.push(answer.id)
  }
  return tasks
}

/** The tasks of the calls in the lines. */
function calledTasks(lines: readonly Line[]): ReadonlySet<string | undefined> {
  return new Set(lines.filter(({ event }) => event === 'call').map(({ task }) => task))
}

async function run(cwd: string, environment: Record<string, string>, ...words: string[]) {
  const terminal = createTestTerminal({ cwd, environment })
  const code = await runCli(words, terminal)
  assert.equal(code, 0, terminal.errors.join('\n'))
  const written = String(terminal.output.read() ?? '')
  return { text: [...terminal.printed, written].join('\n').trim(), errors: terminal.errors.join('\n') }
}

describe('the audit export of a hub', { timeout: 300_000 }, () => {
  it('to a file misses nothing over kill -9 and a rotation [full]', async () => {
    const folder = await newFolder({ 'parley.yaml': `${agents}audit: { export: { file: ./audit.jsonl } }\n` })
    const file = join(folder, 'audit.jsonl')
    const exported = async (path = file) => linesOf(await readFile(path, 'utf8').catch(() => ''))
    const first = await startHub(folder)
    const before = await ask(first, ['one', 'two', 'three'])
    await waitFor(() => hasAll(before), 'the file has the entries')
    first.signal('SIGKILL')

    const second = await startHub(folder)
    await rename(file, `${file}.1`)
    const later = await ask(second, ['four', 'five'])
    await second.stop()
    const old = await exported(`${file}.1`)
    const lines = [...old, ...(await exported())]
    for (const task of [...before, ...later]) assert.ok(calledTasks(lines).has(task), task)
    // In order, but for what was sent again after the kill.
    const firstSeen = [...new Set(lines.map(({ id }) => id))]
    const byPosition = firstSeen.map(positionOf)
    assert.deepEqual(byPosition, [...byPosition].sort(comparePositions))

    async function hasAll(tasks: readonly string[]): Promise<true | undefined> {
      const found = calledTasks(await exported())
      return tasks.every((task) => found.has(task)) ? true : undefined
    }
  })

  it('to a webhook is signed, and waits for a receiver that fails', async () => {
    const bodies: string[] = []
    let isUp = false
    let refused = 0
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        if (!isUp) {
          refused += 1
          return response.writeHead(500).end()
        }
        const id = String(request.headers['webhook-id'])
        const time = String(request.headers['webhook-timestamp'])
        assert.equal(request.headers['webhook-signature'], webhookSignature('shared secret', id, time, body))
        bodies.push(body)
        return response.writeHead(204).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const { port } = server.address() as AddressInfo
    const sink = `{ url: "http://127.0.0.1:${port}/audit", secret: shared secret, allow: [127.0.0.1] }`
    const folder = await newFolder({ 'parley.yaml': `${agents}audit: { export: ${sink} }\n` })
    const hub = await startHub(folder)
    const [task] = await ask(hub, ['one'])
    await waitFor(async () => (refused > 0 ? true : undefined), 'the webhook refuses')
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: await hub.adminKey() }
    const status = await waitFor(async () => {
      const { text } = await run(folder, env, 'status')
      return /the webhook returned 500/.test(text) ? text : undefined
    }, 'the status names the error')
    assert.match(status, /^Audit {4}export webhook is .* behind: the webhook returned 500$/m)
    const metrics = await (await fetch(`${hub.url}/metrics`)).text()
    assert.match(metrics, /^parley_audit_export_errors_total\{sink="webhook"\} [1-9]/m)
    isUp = true
    await waitFor(
      async () => (calledTasks(linesOf(bodies.join(''))).has(task) ? true : undefined),
      'the webhook gets the entry',
    )
    await hub.stop()
  })

  it('does not reach a private address that is not allowed [full]', async () => {
    const sink = '{ url: "http://127.0.0.1:9/audit" }'
    const folder = await newFolder({ 'parley.yaml': `${agents}audit: { export: ${sink} }\n` })
    const hub = await startHub(folder)
    await ask(hub, ['one'])
    const line = await hub.waitForLine(/audit cannot be exported now/)
    assert.match(line, /disallowed|not allowed/i)
    await hub.stop()
  })

  it('to stdout prints JSON lines', async () => {
    const folder = await newFolder({ 'parley.yaml': `${agents}audit: { export: [{ stdout: true }] }\n` })
    const hub = await startHub(folder)
    const [task] = await ask(hub, ['one'])
    await hub.waitForLine(new RegExp(`^\\{"id":"[0-9a-f-]{36}\\.\\d+","at":"[^"]+","event":"call".*"task":"${task}"`))
    await hub.stop()
  })

  it(
    'to stdout survives a full disk, and so does the cursor of the command [full]',
    { skip: fullDiskSkipReason },
    async () => {
      const port = await freePort()
      const listen = `listen: { port: ${port}, grpcPort: false }\n`
      const folder = await newFolder({ 'parley.yaml': `${listen}${agents}audit: { export: [{ stdout: true }] }\n` })
      const full = openSync('/dev/full', 'w')
      after(() => closeSync(full))
      const parley = (...args: string[]) => {
        const env = { PATH: process.env['PATH'], PARLEY_ADMIN_KEY: 'a-long-random-value-of-its-own' }
        const words = ['--conditions=parley-source', program, ...args]
        const child = spawn(process.execPath, words, { cwd: folder, env, stdio: ['ignore', full, 'pipe'] })
        after(() => child.kill('SIGKILL'))
        return { child, errors: text(child.stderr as Readable) }
      }
      const { child, errors } = parley()
      const url = `http://127.0.0.1:${port}`
      await waitFor(
        async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok || undefined,
        'the hub listens',
      )
      await ask({ url }, ['one'])
      await waitFor(
        async () =>
          /parley_audit_export_errors_total\S* [1-9]/.exec(await (await fetch(`${url}/metrics`)).text()) ?? undefined,
        'the metric counts the error',
      )
      await ask({ url }, ['two'])

      const command = parley('audit', 'export', '--cursor-file', 'cursor')
      assert.deepEqual(await once(command.child, 'exit'), [1, null])
      assert.match(await command.errors, /^The output cannot be written: ENOSPC/)
      assert.equal(existsSync(join(folder, 'cursor')), false)
      child.kill('SIGTERM')
      assert.deepEqual(await once(child, 'exit'), [0, null], await errors)
    },
  )

  it('by the command continues from a cursor, and knows times and ages', async () => {
    const folder = await newFolder({ 'parley.yaml': agents })
    const hub = await startHub(folder)
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: await hub.adminKey() }
    const [one] = await ask(hub, ['one'])
    const first = await run(folder, env, 'audit', 'export')
    assert.ok(calledTasks(linesOf(first.text)).has(one))
    const cursor = /^Continue with: --after (\S+)$/m.exec(first.errors)?.[1] ?? ''
    const [two] = await ask(hub, ['two'])
    const second = calledTasks(linesOf((await run(folder, env, 'audit', 'export', '--after', cursor)).text))
    assert.deepEqual([second.has(one), second.has(two)], [false, true])

    const byFile = ['audit', 'export', '--since', '24h', '--cursor-file', 'cursor']
    const third = calledTasks(linesOf((await run(folder, env, ...byFile)).text))
    assert.deepEqual([third.has(one), third.has(two)], [true, true])
    const fourth = calledTasks(linesOf((await run(folder, env, ...byFile)).text))
    assert.deepEqual([fourth.has(one), fourth.has(two)], [false, false])
    const none = await run(folder, env, 'audit', 'export', '--since', '2100-01-01T00:00:00Z')
    assert.equal(none.text, '')

    // Follows until it is stopped.
    const following = createTestTerminal({ cwd: folder, environment: env })
    const seen = once(following.output, 'data')
    const ended = runCli(['audit', 'export', '--follow', '--after', cursor], following)
    await seen
    following.shutDown()
    assert.equal(await ended, 0, following.errors.join('\n'))
    await hub.stop()
  })

  it('leaves facts about the store in status and metrics [full]', async () => {
    const folder = await newFolder({ 'parley.yaml': agents })
    const hub = await startHub(folder)
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: await hub.adminKey() }
    await ask(hub, ['one'])
    const { text } = await run(folder, env, 'status')
    assert.match(text, /^Size {5}[\d.]+ [kM]B, (.* reusable, )?[\d.]+ [GT]B free on its disk$/m)
    assert.match(text, /^Growth {3}not known yet$/m)
    assert.match(text, /^Oldest {3}created \d+ \w+ ago$/m)
    assert.match(text, /^Backup {3}none known$/m)
    assert.match(text, /^Readers {2}/m)
    const metrics = await (await fetch(`${hub.url}/metrics`)).text()
    assert.match(metrics, /^parley_store_size_bytes\{part="database"\} [1-9]\d+$/m)
    assert.match(metrics, /^parley_store_size_bytes\{part="wal"\} \d+$/m)
    assert.match(metrics, /^parley_store_disk_free_bytes [1-9]/m)
    assert.match(metrics, /^parley_push_backlog\{state="due"\} 0$/m)
    assert.match(metrics, /^parley_feed_reader_behind\{reader="traces"\} \d+$/m)
    assert.doesNotMatch(metrics, /^parley_backup_last_timestamp_seconds [0-9]/m)
    await run(folder, env, 'backup', join(folder, 'store.backup'))
    await hub.stop()
    const restarted = await startHub(folder)
    assert.match(
      await (await fetch(`${restarted.url}/metrics`)).text(),
      /^parley_backup_last_timestamp_seconds 1[\d.]+$/m,
    )
    await restarted.stop()
  })
})

function positionOf(id: string): readonly [string, number] {
  const [key = '', index = ''] = id.split('.')
  return [key, Number(index)]
}

function comparePositions(a: readonly [string, number], b: readonly [string, number]): number {
  return a[0] === b[0] ? a[1] - b[1] : a[0] < b[0] ? -1 : 1
}
