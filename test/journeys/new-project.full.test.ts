/**
 * From an empty folder to the first answered message in five commands: those of the README of `create-parley` and the one of the
 * README in the project, as written. Then the snippets of the other READMEs, in the same project.
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './install.ts'
import { describeJourney } from './journey.ts'
import type { Machine } from './machine.ts'
import type { Terminal } from './terminal.ts'
import { commandsIn } from './pages/page-runner.ts'
import { fencedBlocks } from './pages/page-steps.ts'

describeJourney(
  'npm create parley',
  (step) => {
    let [first, second] = [] as Terminal[] as [Terminal, Terminal]
    let project = ''
    /** What a page has for port 3000, on this machine. */
    const at = ({ port }: Machine, text: string): string => text.replaceAll(/(?<=:)3000\b/g, String(port))

    step('leads to the first answered message in five commands', async (machine) => {
      const [create = '', enter = '', install = '', start = '', ...more] = commandsIn(
        (await codeIn('packages/create-parley/README.md', 'sh'))[0] ?? '',
      )
      assert.deepEqual(more, [], 'the fifth command is the message')
      project = join(machine.home, 'my-agent')
      first = await machine.terminal(machine.home)
      const printed = await first.run(create)
      assert.ok(printed.includes(`  ${enter}\n  ${install}\n  ${start}\n`), printed)
      await first.run(enter)
      await first.run(install)
      await first.start(start, /listening on http:/)
      second = await machine.terminal(project)
      const [message = ''] = /^curl .*$/m.exec(await readFile(join(project, 'README.md'), 'utf8')) ?? []
      const answer = await second.run(at(machine, message))
      const { task } = JSON.parse(answer) as { task: { status: { state: string }; artifacts: unknown } }
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
      assert.match(JSON.stringify(task.artifacts), /"Hello, Ada!"/)
      assert.match(await second.run(`curl -s -H 'Accept: text/html' ${machine.url}/`), /<script/, 'the console')
      await first.interrupt()
    })

    step('has a test that passes and correct types', async () => {
      assert.match(await second.run('npm test'), /^. pass 1$/m)
      await second.run('npm run check')
    })

    step('is the same project as that of parley init', async (machine) => {
      assert.match(await second.run('npx @parley/hub init ../other'), /^ {2}cd \.\.\/other$/m)
      const files = ['agent.ts', 'package.json', 'parley.yaml', 'tsconfig.json', '.gitignore']
      const contents = (folder: string): Promise<readonly string[]> =>
        Promise.all(files.map((file) => readFile(join(machine.home, folder, file), 'utf8')))
      const created = await contents('my-agent')
      assert.deepEqual(
        created.map((content) => content.replace('"my-agent"', '"other"')),
        await contents('other'),
      )
    })

    step('is followed by the snippets of the README of @parley/a2a', async (machine) => {
      const [greeter = '', client = '', test = '', ...more] = await codeIn('packages/a2a/README.md', 'ts')
      assert.deepEqual(more, [])
      await writeFile(join(project, 'greeter.ts'), greeter.replace('serve({', `serve({ port: ${machine.port},`))
      await first.start('node greeter.ts', /listening on http:/)
      await writeFile(join(project, 'client.ts'), at(machine, client))
      assert.equal(await second.run('node client.ts'), 'Hello, Ada!\nHello, Grace!')
      await first.interrupt()
      await writeFile(join(project, 'greeter.test.ts'), test)
      assert.match(await second.run('node --test greeter.test.ts'), /^. pass 1$/m)
      await second.run('npm run check')
    })

    step('is followed by the snippets of the README of @parley/hub', async (machine) => {
      const [config = ''] = await codeIn('packages/hub/README.md', 'yaml')
      const [, block = ''] = await codeIn('packages/hub/README.md', 'sh')
      const [check = '', start = '', help = ''] = commandsIn(block)
      await writeFile(join(project, 'parley.yaml'), config)
      assert.match(await second.run(check), /is valid: words, llama\.$/m)
      assert.match(await second.run(help), /parley config check/)
      await first.start(start, /listening on http:/)
      assert.equal((await fetch(`${machine.url}/a2a/words/.well-known/agent-card.json`)).status, 200)
    })
  },
  { isEmpty: true },
)

/** The code blocks of a page in a language. */
async function codeIn(page: string, language: string): Promise<readonly string[]> {
  const blocks = fencedBlocks(await readFile(join(root, page), 'utf8'))
  return blocks.filter((block) => block.language === language).map(({ content }) => content)
}
