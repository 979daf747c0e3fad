/**
 * From an empty folder to the first answered message in five commands: those of the README of `create-parley` and the one of the
 * README in the project, run as written, with npm against a registry on loopback. Only the port differs. Then the snippets of the
 * other READMEs, in the same project.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createEmptyMachine, type EmptyMachine } from './empty-machine.ts'
import { startNpmRegistry, type NpmRegistry } from './npm-registry.ts'
import { packedPackages, root } from './packed-packages.ts'

export function checkFiveCommands(): void {
  describe('npm create parley', { timeout: 600_000 }, () => {
    let registry: NpmRegistry
    let machine: EmptyMachine
    let project = ''

    before(async () => {
      registry = await startNpmRegistry(await packedPackages())
      machine = await createEmptyMachine(registry)
      project = join(machine.home, 'my-agent')
    })
    after(async () => {
      await machine.close()
      await registry.close()
    })

    it('leads to the first answered message in five commands', async () => {
      const [block = ''] = await codeIn('packages/create-parley/README.md', 'sh')
      const [create = '', enter = '', install = '', start = '', ...more] = block.trimEnd().split('\n')
      assert.deepEqual(more, [], 'the fifth command is the message')
      assert.deepEqual([create, enter], ['npm create parley my-agent', 'cd my-agent'])
      const printed = await machine.run(create, machine.home)
      assert.ok(printed.includes(`  ${enter}\n  ${install}\n  ${start}\n`), printed)
      await machine.run(install, project)
      const { url, stop } = await machine.startServer(start, project)
      const [message = ''] = /^curl .*$/m.exec(await readFile(join(project, 'README.md'), 'utf8')) ?? []
      const response = await fetch(...requestOf(message, url))
      const { task } = (await response.json()) as { task: { status: { state: string }; artifacts: unknown } }
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
      assert.match(JSON.stringify(task.artifacts), /"Hello, Ada!"/)
      assert.match(await (await fetch(url, { headers: { accept: 'text/html' } })).text(), /<script/, 'the console')
      await stop()
    })

    it('writes a project whose test passes and whose types are right [full]', async () => {
      assert.match(await machine.run('npm test', project), /^. pass 1$/m)
      await machine.run('npm run check', project)
    })

    it('writes the same project as parley init [full]', async () => {
      assert.match(await machine.run('npx @parley/hub init ../other', project), /^ {2}cd \.\.\/other$/m)
      const files = ['agent.ts', 'package.json', 'parley.yaml', 'tsconfig.json', '.gitignore']
      const contents = (folder: string): Promise<readonly string[]> =>
        Promise.all(files.map((file) => readFile(join(machine.home, folder, file), 'utf8')))
      const created = await contents('my-agent')
      assert.deepEqual(
        created.map((content) => content.replace('"my-agent"', '"other"')),
        await contents('other'),
      )
    })

    it('is followed by the snippets of the README of @parley/a2a [full]', async () => {
      const [greeter = '', client = '', test = '', ...more] = await codeIn('packages/a2a/README.md', 'ts')
      assert.deepEqual(more, [])
      await writeFile(join(project, 'greeter.ts'), greeter.replace('serve({', 'serve({ port: 0,'))
      const { url, stop } = await machine.startServer('node greeter.ts', project)
      await writeFile(join(project, 'client.ts'), client.replace('http://127.0.0.1:3000', url))
      assert.equal(await machine.run('node client.ts', project), 'Hello, Ada!\nHello, Grace!')
      await stop()
      await writeFile(join(project, 'greeter.test.ts'), test)
      assert.match(await machine.run('node --test greeter.test.ts', project), /^. pass 1$/m)
      await machine.run('npm run check', project)
    })

    it('is followed by the snippets of the README of @parley/hub [full]', async () => {
      const [config = ''] = await codeIn('packages/hub/README.md', 'yaml')
      const [, block = ''] = await codeIn('packages/hub/README.md', 'sh')
      const [check = '', start = '', help = ''] = block.split('\n')
      await writeFile(join(project, 'parley.yaml'), config)
      assert.match(await machine.run(check, project), /is valid: words, llama\.$/m)
      assert.match(await machine.run(help, project), /parley config check/)
      const { url } = await machine.startServer(start, project)
      assert.equal((await fetch(`${url}/a2a/words/.well-known/agent-card.json`)).status, 200)
    })
  })
}

/** The code blocks of a page in a language. */
async function codeIn(page: string, language: string): Promise<readonly string[]> {
  const content = await readFile(join(root, page), 'utf8')
  return [...content.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, code = '']) => code,
  )
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
