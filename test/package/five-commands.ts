/**
 * From an empty folder to the first answered message in five commands: those of the README of `create-parley` and the one of the
 * README in the project, run as written, with npm against a registry on loopback. Only the port differs.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { startNpmRegistry, type NpmRegistry } from './npm-registry.ts'
import { packedPackages, root } from './packed-packages.ts'

const curl = /^curl .*$/m

export function checkFiveCommands(): void {
  describe('npm create parley', { timeout: 600_000 }, () => {
    let registry: NpmRegistry
    let home = ''
    let project = ''
    const children: ChildProcess[] = []

    before(async () => {
      registry = await startNpmRegistry(await packedPackages())
      home = await mkdtemp(join(tmpdir(), 'parley-five-'))
    })
    after(async () => {
      for (const child of children) {
        if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue
        const exited = once(child, 'exit')
        // npm starts the hub as a child of its own: all of them are ended together.
        process.kill(-child.pid, 'SIGKILL')
        await exited
      }
      await registry.close()
      await rm(home, { recursive: true, force: true })
    })

    /** A shell with Node and npm, whose files are all in `home`. */
    function shell(command: string, cwd: string): ChildProcess {
      const env = {
        PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
        HOME: home,
        PORT: '0',
        GRPC_PORT: '',
        npm_config_registry: registry.url,
        npm_config_cache: join(home, '.npm'),
        npm_config_update_notifier: 'false',
      }
      const child = spawn('sh', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
      children.push(child)
      return child
    }

    async function runToEnd(command: string, cwd: string): Promise<string> {
      const child = shell(command, cwd)
      assert.ok(child.stdout !== null && child.stderr !== null)
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit') as Promise<[number | null]>,
      ])
      assert.equal(code, 0, `${command}\n${stdout}\n${stderr}\nnot in the registry: ${registry.missing.join(', ')}`)
      return stdout
    }

    it('leads to the first answered message in five commands', async () => {
      const readme = await readFile(join(root, 'packages/create-parley/README.md'), 'utf8')
      const commands = /```sh\n([\s\S]*?)\n```/.exec(readme)?.[1]?.split('\n') ?? []
      const [create = '', enter = '', install = '', start = '', ...more] = commands
      assert.deepEqual(more, [], 'the fifth command is the message')
      assert.equal(create, 'npm create parley my-agent')
      assert.equal(enter, 'cd my-agent')
      assert.match(await runToEnd(create, home), /^ {2}cd my-agent\n {2}npm install\n {2}npm start$/m)
      project = join(home, enter.slice('cd '.length))
      await runToEnd(install, project)
      const url = await addressPrinted(shell(start, project))
      const [message = ''] = curl.exec(await readFile(join(project, 'README.md'), 'utf8')) ?? []
      const response = await fetch(...requestOf(message, url))
      const { task } = (await response.json()) as { task: { status: { state: string }; artifacts: unknown } }
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
      assert.match(JSON.stringify(task.artifacts), /"Hello, Ada!"/)
      assert.match(await (await fetch(url, { headers: { accept: 'text/html' } })).text(), /<script/, 'the console')
    })

    it('writes a project whose test passes and whose types are right', async () => {
      assert.match(await runToEnd('npm test', project), /^. pass 1$/m)
      await runToEnd('npm run check', project)
    })

    it('can be called by the hub of the project, as parley init', async () => {
      assert.match(await runToEnd('npx @parley/hub init ../other', project), /^ {2}cd \.\.\/other$/m)
      const files = ['agent.ts', 'package.json', 'parley.yaml', 'tsconfig.json', '.gitignore']
      const [created, initialized] = await Promise.all(
        [project, join(home, 'other')].map((folder) =>
          Promise.all(files.map((file) => readFile(join(folder, file), 'utf8'))),
        ),
      )
      assert.deepEqual(
        created?.map((content) => content.replace('"my-agent"', '"other"')),
        initialized,
      )
    })
  })
}

function addressPrinted(child: ChildProcess): Promise<string> {
  const printed: string[] = []
  return new Promise((resolve, reject) => {
    for (const input of [child.stdout, child.stderr]) {
      assert.ok(input !== null)
      createInterface({ input }).on('line', (line) => {
        printed.push(line)
        const [, url] = /listening on (http:\S+)/.exec(line) ?? []
        if (url !== undefined) resolve(url)
      })
    }
    child.once('exit', () => reject(new Error(`npm start ended:\n${printed.join('\n')}`)))
  })
}

/** Converts a curl command to a fetch, so that the test needs no curl: a shell splits it. */
function requestOf(command: string, url: string): [string, RequestInit] {
  const script = `curl() { printf '%s\\0' "$@"; }; ${command}`
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0')
  const valuesOf = (flag: string): string[] => words.flatMap((word, at) => (word === flag ? [words[at + 1] ?? ''] : []))
  const address = words.find((word) => word.startsWith('http://')) ?? ''
  const headers = valuesOf('-H').map((header) => header.split(': ') as [string, string])
  return [address.replace('http://127.0.0.1:3000', url), { method: 'POST', headers, body: valuesOf('-d')[0] ?? '' }]
}
