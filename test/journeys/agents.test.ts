/**
 * An operator adds agents: in the console, by the command line, in an editor, and a model with a key, which the hub keeps and the file
 * never has. After a restart all of them are there.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before } from 'node:test'
import type { Page } from 'playwright-core'
import { scriptedModel, type ScriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { browserSkipReason, openConsole } from './browser.ts'
import { describeJourney } from './journey.ts'
import type { Terminal } from './terminal.ts'

const demos = ['echo', 'clock', 'concierge', 'rehearsal']
const apiKey = 'sk-journey-0123456789abcdef'
const nextKey = 'sk-journey-second'

describeJourney(
  'agents are added',
  (step) => {
    let model: ScriptedModel
    let [first, second] = [] as Terminal[] as [Terminal, Terminal]
    let page: Page
    let folder = ''
    before(async () => {
      model = await scriptedModel(({ said }) => ({ say: [`You said ${said}.`] }))
      model.apiKey = apiKey
    })
    after(() => model.close())
    const configuration = (): string => readFileSync(join(folder, 'parley.yaml'), 'utf8')

    async function detect(text: string): Promise<void> {
      await page.goto('/agents/new')
      await page.getByLabel('URL, command or file').fill(text)
      await page.keyboard.press('Enter')
    }
    async function addDetected(name: string): Promise<void> {
      const form = page.getByRole('form', { name: 'Detected agent' })
      await form.getByLabel('Agent name').fill(name)
      await form.getByRole('button', { name: `Add ${name}` }).click()
      await page.waitForURL(`**/agents/${name}`)
    }

    step('in the console, which writes the first configuration file with the demos', async (machine) => {
      const greeter = 'export default ({ text }) => `Hello, ${text}!`\n'
      folder = await machine.folder('hub', { 'shout.sh': 'tr a-z A-Z\n', 'greeter.ts': greeter })
      first = await machine.terminal(folder)
      second = await machine.terminal(folder)
      page = await openConsole(await first.start('parley up', /Stop with Ctrl-C/))
      await detect('sh shout.sh')
      await addDetected('shout')
      assert.match(await second.run(`a2a send -a ${machine.url}/a2a/shout hello`), /HELLO/)
      for (const name of [...demos, 'shout']) assert.match(configuration(), new RegExp(`^ {2}${name}:`, 'm'))
    })

    step('by the command line, which reports what the running hub did', async (machine) => {
      assert.match(await second.run('parley agent add ./greeter.ts'), /greeter/)
      assert.match(await second.run(`a2a send -a ${machine.url}/a2a/greeter Ada`), /Hello, Ada/)
      await first.until(/greeter: added/)
    })

    step('in an editor, where a mistake changes nothing', async (machine) => {
      const before = configuration()
      const save = (line: string): void => writeFileSync(join(folder, 'parley.yaml'), `${before}  ${line}\n`)
      save('lines: { kind: comand, command: [wc, -l] }')
      await first.until(/The configuration is invalid and was not applied/)
      assert.match(await second.run(`a2a send -a ${machine.url}/a2a/greeter Ada`), /Hello, Ada/)
      save('lines: { kind: command, command: [wc, -l] }')
      await first.until(/lines: added/)
      await page.goto('/agents')
      const list = page.getByRole('list', { name: 'Agents' })
      for (const name of ['shout', 'greeter', 'lines'])
        await list.getByRole('link', { name: new RegExp(`^${name}\\b`) }).waitFor()
    })

    step('with a key that is typed into the console and kept by the hub', async (machine) => {
      await detect(model.url)
      await page.getByRole('alert').getByText('Requires authentication').waitFor()
      await page.getByLabel('Token', { exact: true }).fill(apiKey)
      await page.getByRole('button', { name: 'Detect again' }).click()
      await addDetected('gpt')
      assert.match(await second.run(`a2a send -a ${machine.url}/a2a/gpt hello`), /You said hello\./)
      assert.match(configuration(), /\$\{hub:[\w.-]+\}/)
      assert.ok(!(await page.content()).includes(apiKey), 'no key on the page')
      assert.equal((await second.run(`grep -rl '${apiKey}' . || echo none`)).trim(), 'none', 'no key in any file')
    })

    step('with another key, typed into a terminal', async (machine) => {
      const [, name = ''] = /\$\{hub:([\w.-]+)\}/.exec(configuration()) ?? []
      model.apiKey = nextKey
      await second.begin(`parley secret set ${name}`)
      await second.until(/Value of .*: *$/)
      await second.type(nextKey)
      const shown = await second.until(/^Set .*Used by gpt\.\n\$ *$/m)
      assert.ok(!shown.includes(nextKey), 'a typed value is not shown')
      assert.match(await second.run('printf a-token | parley secret set spare'), /^Set spare\./)
      await second.run('parley secret remove spare')
      const listed = await second.run('parley secret list')
      assert.match(listed, new RegExp(`^${name} .*\\bgpt\\b`, 'm'))
      assert.doesNotMatch(listed, /^spare/m)
      assert.match(await second.run(`parley secret remove ${name}`, 1), /gpt/)
      assert.match(await second.run(`a2a send -a ${machine.url}/a2a/gpt again`), /You said again\./)
    })

    step('and are all there after a restart', async (machine) => {
      await first.interrupt()
      assert.match(await second.run('parley config check'), /Kept by the hub/)
      await first.start('parley up', /Stop with Ctrl-C/)
      const listed = await second.run('parley agent list')
      for (const name of [...demos, 'shout', 'greeter', 'lines', 'gpt'])
        assert.match(listed, new RegExp(`^${name} .*\\bup\\b`, 'm'))
      assert.match(await second.run(`a2a send -a ${machine.url}/a2a/gpt third`), /You said third\./)
    })
  },
  { skip: browserSkipReason },
)
