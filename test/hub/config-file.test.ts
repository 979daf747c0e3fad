/** One configuration file that the hub, the console, the commands of another terminal and editors share. */
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { runCli } from '../../packages/hub/src/cli/run.ts'
import { createTestTerminal } from '../../packages/hub/src/cli/testing/test-terminal.ts'
import { demoConfig } from '../../packages/hub/src/demo/index.ts'
import { runInProcess } from './run-in-process.ts'
import { newFolder } from './running-hub.ts'

const key = 'an-admin-key-of-this-test'
const demoNames = Object.keys(demoConfig.agents)
const echo = { kind: 'demo', agent: 'echo' }

/** An agent whose module adds an entry to the configuration when it is loaded. */
const writer = `import { readFileSync, writeFileSync } from 'node:fs'
const file = new URL('./parley.yaml', import.meta.url)
if (!readFileSync(file, 'utf8').includes('meanwhile'))
  writeFileSync(file, readFileSync(file, 'utf8') + '  meanwhile: { kind: demo, agent: echo }\\n')
export default () => 'done'
`

interface UpHub {
  readonly url: string
  readonly folder: string
  /** The first line, past or future, that matches. */
  waitForLine(pattern: RegExp): Promise<string>
  readonly lines: readonly string[]
  admin(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly json: any }>
  names(): Promise<readonly string[]>
  /** The watch may apply an earlier text once more before it sees the last one. */
  waitForNames(expected: readonly string[]): Promise<void>
  /** A command in another terminal. */
  run(...args: readonly string[]): Promise<{ readonly code: number; readonly lines: readonly string[] }>
  agentsOfFile(name?: string): Record<string, unknown>
  save(name: string, text: string): Promise<void>
}

/** `parley up` in this process: its watch and its output are those of the program. */
async function up(files: Readonly<Record<string, string>> = {}): Promise<UpHub> {
  const folder = await newFolder(files)
  const terminal = createTestTerminal({ cwd: folder, environment: { PARLEY_ADMIN_KEY: key } })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const note = (text: string): void => {
    lines.push(...text.split('\n'))
    for (const look of waiting) look()
  }
  function waitForLine(pattern: RegExp): Promise<string> {
    const found = Promise.withResolvers<string>()
    const look = (): void => {
      const line = lines.find((one) => pattern.test(one))
      if (line !== undefined) found.resolve(line)
    }
    waiting.add(look)
    look()
    return found.promise.finally(() => waiting.delete(look))
  }
  const ended = runCli(['up', '--store', 'memory:', '--port', '0', '--grpc-port', ''], {
    ...terminal,
    print: note,
    printError: note,
  })
  after(async () => {
    terminal.shutDown()
    await ended
  })
  const line = await Promise.race([
    waitForLine(/listening on/),
    ended.then((code) => assert.fail(`${code} ${lines.join()}`)),
  ])
  const url = /listening on (\S+)/.exec(line)?.[1] ?? ''
  await waitForLine(/^(Stop with|Unfinished tasks continue|All tasks are lost when)/)
  const admin: UpHub['admin'] = async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return { status: response.status, json: await response.json() }
  }
  const names: UpHub['names'] = async () =>
    (await admin('GET', '/admin/agents')).json.agents.map(({ name }: { name: string }) => name)
  return {
    url,
    folder,
    waitForLine,
    lines,
    admin,
    names,
    waitForNames: (expected) =>
      eventually(async () => isDeepStrictEqual(await names(), expected), `the agents ${expected.join(', ')}`),
    run: (...args) => runInProcess(folder, args, { PARLEY_URL: url, PARLEY_ADMIN_KEY: key }),
    agentsOfFile: (name = 'parley.yaml') =>
      (parse(readFileSync(join(folder, name), 'utf8')) as { agents: Record<string, unknown> }).agents,
    async save(name, text) {
      // As editors do.
      await writeFile(join(folder, `.${name}.swp`), text)
      await rename(join(folder, `.${name}.swp`), join(folder, name))
    },
  }
}

describe('a hub that was started without a configuration file', { timeout: 120_000 }, () => {
  it('loads the file when it appears, and keeps its configuration while the file is invalid or removed', async () => {
    const hub = await up()
    await writeFile(join(hub.folder, 'parley.yml'), 'agents:\n  mir')
    await hub.waitForLine(/invalid and was not applied/)
    assert.deepEqual(await hub.names(), demoNames)
    await hub.save('parley.yml', 'agents:\n  mirror: { kind: demo, agent: echo }\n')
    await hub.waitForLine(/mirror: added/)
    assert.deepEqual(await hub.names(), ['mirror'])

    rmSync(join(hub.folder, 'parley.yml'))
    await hub.waitForLine(/parley\.yml was removed: its last configuration stays in use/)
    assert.deepEqual(await hub.names(), ['mirror'])
    // What runs is also what the console edits, so that it writes the file anew.
    const { status } = await hub.admin('POST', '/admin/agents', { name: 'second', entry: echo })
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(hub.agentsOfFile('parley.yml')), ['mirror', 'second'])

    await hub.save('parley.yaml', 'agents:\n  third: { kind: demo, agent: echo }\n')
    await hub.waitForLine(/third: added/)
    await hub.waitForLine(/parley\.yaml is used; \S+parley\.yml is ignored/)
  })

  it('serves the agents that a command, the console and an editor add, which all write the same file', async () => {
    const hub = await up()
    const added = await hub.run('agent', 'add', '--kind', 'module', './greeter.ts', '-o', 'json')
    assert.equal(added.code, 1)
    const file = join(hub.folder, 'parley.yaml')
    const outcome = JSON.parse(added.lines.slice(0, added.lines.indexOf('}') + 1).join('\n'))
    assert.deepEqual(
      [outcome.name, outcome.file, outcome.hub.state, outcome.hub.url],
      ['greeter', file, 'failed', hub.url],
    )
    assert.match(outcome.hub.message, /^greeter failed: .*greeter\.ts/)
    writeFileSync(join(hub.folder, 'greeter.ts'), 'export default () => "hello"\n')
    await hub.waitForLine(/greeter: changed/)

    assert.equal((await hub.admin('POST', '/admin/agents', { name: 'mirror', entry: echo })).status, 201)
    await hub.save('parley.yaml', `${readFileSync(file, 'utf8')}  late: { kind: demo, agent: echo }\n`)
    await hub.waitForLine(/late: added/)
    const again = await hub.run('agent', 'add', `${new URL(hub.url).host}/a2a/mirror`)
    assert.deepEqual(again.lines.slice(-1), [`echo-2 is running: ${hub.url}/a2a/echo-2`])
    assert.equal(again.code, 0)
    const all = [...demoNames, 'greeter', 'mirror', 'late', 'echo-2']
    assert.deepEqual(Object.keys(hub.agentsOfFile()), all)
    await hub.waitForNames(all)
    // The terminal of the hub shows what the console did, once.
    assert.equal(hub.lines.filter((line) => line.includes('mirror: added')).length, 1)

    const removed = await hub.run('agent', 'remove', 'late')
    assert.deepEqual(removed.lines, [`Removed late from ${file}.`, `The hub at ${hub.url} serves no agent late.`])
    assert.ok(!(await hub.names()).includes('late'))
  })

  it('gets the same first file from the console as from a command', async () => {
    const [byConsole, byCommand] = await Promise.all([up(), newFolder()])
    writeFileSync(join(byConsole.folder, 'x.ts'), 'export default () => "x"\n')
    const entry = { kind: 'module', path: './x.ts' }
    assert.equal((await byConsole.admin('POST', '/admin/agents', { name: 'x', entry })).status, 201)
    const environment = { PARLEY_URL: '127.0.0.1:3', PARLEY_ADMIN_KEY: key }
    assert.equal((await runInProcess(byCommand, ['agent', 'add', '--kind', 'module', './x.ts'], environment)).code, 0)
    const [one, other] = [byConsole.folder, byCommand].map((folder) =>
      readFileSync(join(folder, 'parley.yaml'), 'utf8'),
    )
    assert.equal(other, one)
    assert.deepEqual(byConsole.agentsOfFile(), { ...demoConfig.agents, x: entry })
  })
})

describe('a configuration file that changes while the hub starts', { timeout: 120_000 }, () => {
  it('is loaded again', async () => {
    const text = 'agents:\n  writer: { kind: module, path: ./writer.ts }\n'
    const hub = await up({ 'parley.yaml': text, 'writer.ts': writer })
    await hub.waitForLine(/meanwhile: added/)
  })
})

describe('parley agent add beside a running hub', { timeout: 120_000 }, () => {
  it('keeps a token that only the terminal has in the hub, and offers to remove it with the agent', async () => {
    const hub = await up()
    const environment = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: key, TOKEN: 'only in this terminal' }
    const run = (...words: string[]) => runInProcess(hub.folder, words, environment)
    const added = await run('agent', 'add', `${hub.url}/a2a/echo`, '--name', 'tiny', '--token-env', 'TOKEN')
    assert.equal(added.code, 0, added.lines.join('\n'))
    assert.ok(added.lines.includes('The hub keeps its token as the secret tiny-token: TOKEN is not set where it runs.'))
    assert.deepEqual(hub.agentsOfFile()['tiny'], {
      kind: 'a2a',
      url: `${hub.url}/a2a/echo`,
      auth: { bearer: '${hub:tiny-token}' },
    })
    assert.ok((await hub.names()).includes('tiny'))
    const secretsOf = async () => {
      const { json } = await hub.admin('GET', '/admin/secrets')
      return json.secrets.map(({ name }: { readonly name: string }) => name) as readonly string[]
    }
    const removed = await run('agent', 'remove', 'tiny')
    const offer = 'No agent uses the secret tiny-token now: remove it with `parley secret remove tiny-token`.'
    assert.deepEqual([removed.code, removed.lines.at(-1)], [0, offer])
    assert.deepEqual(await secretsOf(), ['tiny-token'])
    await run('agent', 'add', `${hub.url}/a2a/echo`, '--name', 'tiny', '--token-env', 'TOKEN')
    const again = await run('agent', 'remove', 'tiny', '--secrets')
    assert.equal(again.lines.at(-1), 'Removed the secret tiny-token-2, which only tiny used.')
    assert.deepEqual(await secretsOf(), ['tiny-token'])
  })

  it('leaves the file as it was if the hub does not accept it', async () => {
    const hub = await up()
    await hub.run('agent', 'add', '--kind', 'a2a', `${hub.url}/a2a/echo`, '--name', 'mirror')
    // Valid in a terminal that has the variable, but not for the hub.
    await hub.save('parley.yaml', `${readFileSync(join(hub.folder, 'parley.yaml'), 'utf8')}publicUrl: "\${env:SITE}"\n`)
    const before = readFileSync(join(hub.folder, 'parley.yaml'), 'utf8')
    const environment = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: key, SITE: 'https://hub.example.com' }
    const added = await runInProcess(
      hub.folder,
      ['agent', 'add', '--kind', 'a2a', `${hub.url}/a2a/echo`, '--name', 'tiny'],
      environment,
    )
    assert.equal(added.code, 1)
    assert.match(added.lines.join('\n'), /did not apply it: .*SITE.*\nThe entry was removed again\./)
    assert.equal(readFileSync(join(hub.folder, 'parley.yaml'), 'utf8'), before)
    assert.ok(!(await hub.names()).includes('tiny'))
  })

  it('reports a hub that uses another file, or that it cannot ask', async () => {
    const hub = await up()
    const folder = await newFolder()
    const add = ['agent', 'add', '--kind', 'module', './x.ts', '--url', hub.url]
    const other = await runInProcess(folder, add, { PARLEY_ADMIN_KEY: key })
    assert.deepEqual(
      [other.code, other.lines.at(-1)],
      [
        0,
        `The hub at ${hub.url} uses another file, ${join(hub.folder, 'parley.yaml')}: name that with --config, or another hub with --url.`,
      ],
    )
    const refused = await runInProcess(folder, add, { PARLEY_ADMIN_KEY: 'a-wrong-admin-key' })
    assert.equal(refused.code, 0)
    assert.match(refused.lines.at(-1) ?? '', new RegExp(`^The hub at ${hub.url} could not be asked about it: `))
    const keyless = await runInProcess(folder, add)
    assert.equal(keyless.code, 0)
    assert.match(
      keyless.lines.at(-1) ?? '',
      /could not be asked about it: The hub runs at .* but its admin key is not in/,
    )
    assert.deepEqual(await hub.names(), demoNames)
  })
})

describe('a change by the console', { timeout: 120_000 }, () => {
  it('keeps the entry that a command has written meanwhile', async () => {
    const hub = await up({ 'parley.yaml': 'agents:\n  echo: { kind: demo, agent: echo }\n' })
    // Opened between the moment in which the console reads the file and the one in which it writes it.
    writeFileSync(join(hub.folder, 'writer.ts'), writer)
    const entry = { kind: 'module', path: './writer.ts' }
    const { status, json } = await hub.admin('POST', '/admin/agents', { name: 'writer', entry })
    assert.deepEqual([status, json.effects.added], [201, ['writer']])
    assert.deepEqual(Object.keys(hub.agentsOfFile()), ['echo', 'meanwhile', 'writer'])
    await hub.waitForNames(['echo', 'meanwhile', 'writer'])
    // Also one that the hub has not read yet is not replaced.
    await hub.save(
      'parley.yaml',
      `${readFileSync(join(hub.folder, 'parley.yaml'), 'utf8')}  taken: { kind: demo, agent: clock }\n`,
    )
    assert.equal((await hub.admin('POST', '/admin/agents', { name: 'taken', entry: echo })).status, 409)
  })

  it('detects an agent at host:port, and suggests a name that is free', async () => {
    const hub = await up()
    const { json } = await hub.admin('POST', '/admin/agents/detect', { target: [`${new URL(hub.url).host}/a2a/echo`] })
    assert.deepEqual([json.kind, json.name, json.entry], ['a2a', 'echo-2', { url: `${hub.url}/a2a/echo` }])
  })
})
