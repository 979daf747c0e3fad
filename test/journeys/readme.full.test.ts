/** What a stranger types in an empty folder: the commands of README.md and of docs/guides/install.md, as written. Only the port differs. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './install.ts'
import { installation } from './installation.ts'
import { describeJourney } from './journey.ts'
import type { Machine } from './machine.ts'
import { commandsIn } from './pages/page-runner.ts'
import { fencedBlocks } from './pages/page-steps.ts'

/** On this machine, and as the README says for the same command outside a clone. */
const at = ({ port }: Machine, command: string): string =>
  command.replace(/^npm run .*?a2a --/, 'npx @parley/cli').replace(/(?<=[ /]localhost:)3000/, String(port))

const commandsOn = (page: string): string[] =>
  fencedBlocks(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ content }) => commandsIn(content))
    .map((line) => line.replace(/\s+#.*$/, ''))

describeJourney(
  'in an empty folder',
  (step) => {
    step('the commands of the README start the hub, call it and check it', async (machine) => {
      const readme = await readFile(join(root, 'README.md'), 'utf8')
      const commands = commandsOn(readme).filter((line) => /^npm run .*a2a --/.test(line))
      const [send = '', sendJson = '', conformance = '', ...more] = commands
      assert.deepEqual(more, [])
      assert.match(readme, /`npx @parley\/hub`/)
      const folder = await machine.folder('readme')
      const [first, second] = [await machine.terminal(folder), await machine.terminal(folder)]
      await first.start('npx @parley/hub', /listening on http:/)
      assert.match(await second.run(at(machine, send)), /Hello/)
      const { task } = JSON.parse(await second.run(`${at(machine, sendJson)} 2> progress`)) as {
        task: { status: { state: string } }
      }
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
      assert.match(await second.run(at(machine, conformance)), /^must +\d+ passed/m)
      // What is printed as the next command runs, too: there is no `a2a` in the path.
      const asked = await second.run(`npx @parley/cli send -a localhost:${machine.port}/a2a/rehearsal ask`)
      const [, resume = ''] = /^Resume: (.*)$/m.exec(asked) ?? []
      assert.match(await second.run(resume.replace('<reply>', 'Ada')), /You said: Ada/)
      await first.interrupt()
    })

    step('the commands of the installation page run as written', async (machine) => {
      const page = await readFile(join(root, 'docs/guides/install.md'), 'utf8')
      const npm = page.slice(page.indexOf('\n## npm'), page.indexOf('\n## A project'))
      const [start = '', send = '', ...install] = commandsOn(npm)
      const folder = await machine.folder('install')
      const [first, second] = [await machine.terminal(folder), await machine.terminal(folder)]
      await first.start(start, /listening on http:/)
      assert.match(await second.run(at(machine, send)), /Hello/)
      await first.interrupt()
      const { version } = JSON.parse(await readFile(join(root, 'packages/hub/package.json'), 'utf8')) as {
        version: string
      }
      const printed: string[] = []
      for (const command of install) printed.push(await second.run(command))
      assert.equal(printed.at(-1)?.trim(), version)
      assert.match(await second.run('a2a --version && parley help'), /parley up/)
    })

    step('the archives of a clone install globally, as the installation page says', async (machine) => {
      const page = await readFile(join(root, 'docs/guides/install.md'), 'utf8')
      const command = commandsOn(page).find((line) => line.startsWith('npm install --global ~/parley'))
      const folder = await machine.folder('archives')
      const terminal = await machine.terminal(folder, { npm_config_prefix: join(machine.home, 'archives-global') })
      const { scratch } = await installation()
      await terminal.run(command?.replace('~/parley', scratch) ?? 'false')
      await terminal.start(`${join(machine.home, 'archives-global/bin/parley')} up`, /listening on http:/)
      await terminal.interrupt()
    })

    step('a TypeScript agent runs by npx without node_modules beside it', async (machine) => {
      const folder = await machine.folder('agent', {
        'agent.ts': `import { A2AError, type Turn } from '@parley/a2a'
          export default ({ text }: Turn): string => \`Hello, \${text}! \${A2AError.name}\``,
        'parley.yaml': 'access: { anonymous: [greeter] }\nagents: { greeter: { kind: module, path: ./agent.ts } }\n',
      })
      const [first, second] = [await machine.terminal(folder), await machine.terminal(folder)]
      await first.start('npx @parley/hub up', /listening on http:/)
      assert.match(await second.run(`npx @parley/cli send -a ${machine.url}/a2a/greeter Ada`), /Hello, Ada! A2AError/)
    })
  },
  { isEmpty: true },
)
