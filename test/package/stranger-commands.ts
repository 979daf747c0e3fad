/**
 * What a stranger types in an empty folder: the commands of README.md and of docs/guides/install.md, as written, by npx and npm against a registry on
 * loopback. Only the port differs.
 */
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fencedBlocks } from '../tutorials/page-steps.ts'
import { createEmptyMachine, type EmptyMachine } from './empty-machine.ts'
import { startNpmRegistry, type NpmRegistry } from './npm-registry.ts'
import { packedPackages, root } from './packed-packages.ts'

export function checkStrangerCommands(): void {
  describe('in an empty folder', { timeout: 600_000 }, () => {
    let registry: NpmRegistry
    let machine: EmptyMachine
    before(async () => {
      registry = await startNpmRegistry(await packedPackages())
      machine = await createEmptyMachine(registry)
    })
    after(async () => {
      await machine.close()
      await registry.close()
    })

    const emptyFolder = async (name: string): Promise<string> => {
      const folder = join(machine.home, name)
      await mkdir(folder)
      return folder
    }

    it('the commands of the README start the hub, call it and check it', async () => {
      const readme = await readFile(join(root, 'README.md'), 'utf8')
      const commands = fencedBlocks(readme)
        .filter(({ language }) => language === 'sh')
        .flatMap(({ content }) => content.trim().split('\n'))
        .map((line) => line.replace(/\s+#.*$/, ''))
        .filter((line) => line.startsWith('npx '))
      const [start = '', send = '', sendJson = '', conformance = '', ...more] = commands
      assert.deepEqual([start, more], ['npx @parley/hub', []])
      const folder = await emptyFolder('readme')
      const { url, stop } = await machine.startServer(start, folder)
      const at = (command: string): string => command.replace(/(?<=[ /])localhost:3000/, new URL(url).host)
      assert.match(await machine.run(at(send), folder), /Text: Hello/)
      const { task } = JSON.parse(await machine.run(at(sendJson), folder)) as { task: { status: { state: string } } }
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
      // A hub that accepts calls without a version, as by default, breaks a must: the exit code is 1 (docs/guides/check-an-agent.md).
      assert.match(await machine.run(`${at(conformance)} || test $? = 1`, folder), /^must +\d+ passed/m)
      await stop()
    })

    it('the commands of the installation page run as written', async () => {
      const page = await readFile(join(root, 'docs/guides/install.md'), 'utf8')
      const npm = page.slice(page.indexOf('\n## npm'), page.indexOf('\n## A project'))
      const [start, send, install, ...more] = fencedBlocks(npm)
      assert.deepEqual(more, [])
      const folder = await emptyFolder('install')
      const { url, stop } = await machine.startServer(start?.content ?? '', folder)
      const sent = await machine.run((send?.content ?? '').replace('localhost:3000', new URL(url).host), folder)
      assert.match(sent, /Text: Hello/)
      await stop()
      const { version } = JSON.parse(await readFile(join(root, 'packages/hub/package.json'), 'utf8')) as {
        version: string
      }
      assert.equal((await machine.run(install?.content ?? '', folder)).trim().split('\n').at(-1), version)
      assert.match(await machine.run('a2a --version && parley help', folder), /parley up/)
    })

    it('a TypeScript agent runs by npx without node_modules beside it', async () => {
      const folder = await emptyFolder('agent')
      const agent = `import { A2AError, type Turn } from '@parley/a2a'
        export default ({ text }: Turn): string => \`Hello, \${text}! \${A2AError.name}\``
      await writeFile(join(folder, 'agent.ts'), agent)
      const config = 'access: { anonymous: [greeter] }\nagents: { greeter: { kind: module, path: ./agent.ts } }\n'
      await writeFile(join(folder, 'parley.yaml'), config)
      const { url, stop } = await machine.startServer('npx @parley/hub up', folder)
      const sent = await machine.run(`npx @parley/cli send -a ${url}/a2a/greeter Ada`, folder)
      assert.match(sent, /Hello, Ada! A2AError/)
      await stop()
    })
  })
}
