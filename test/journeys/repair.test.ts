/** An operator whose agents are broken: reads why in the console, `status`, `doctor`, `logs` and `agent list`, and repairs them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { scriptedModel, type ScriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { freePort } from '../free-port.ts'
import { browserSkipReason, openConsole } from './browser.ts'
import { describeJourney } from './journey.ts'
import type { Terminal } from './terminal.ts'

const greeter = 'export default ({ text }) => `Hello, ${text}!`\n'

describeJourney(
  'a broken agent',
  (step) => {
    let model: ScriptedModel
    let [first, second] = [] as Terminal[] as [Terminal, Terminal]
    let folder = ''
    let remote = 0
    before(async () => {
      model = await scriptedModel(({ said }) => ({ say: [`You said ${said}.`] }))
      model.apiKey = 'sk-right'
      remote = await freePort()
    })
    after(() => model.close())
    const causes = (): Readonly<Record<string, RegExp>> => ({
      greeter: /the table is missing/,
      gpt: /Incorrect API key/,
      other: new RegExp(`connect ECONNREFUSED 127\\.0\\.0\\.1:${remote}`),
    })

    step('has its cause on the screen of the hub', async (machine) => {
      const config = `health: { every: 1s }
agents:
  greeter: { kind: module, path: ./greeter.ts }
  gpt: { kind: openai, baseUrl: '${model.url}', model: scripted, apiKey: sk-wrong }
  other: { kind: a2a, url: 'http://127.0.0.1:${remote}' }
`
      folder = await machine.folder('hub', {
        'parley.yaml': config,
        'greeter.ts': `throw new Error('the table is missing')\n${greeter}`,
      })
      first = await machine.terminal(folder)
      second = await machine.terminal(folder)
      assert.match(await first.start('parley up', /Stop with Ctrl-C/), /greeter .*the table is missing/)
    })

    step('has its cause in agent list, status, doctor and logs', async () => {
      for (const [name, cause] of Object.entries(causes())) {
        await second.runUntil('parley agent list', new RegExp(`^${name}: .*${cause.source}`, 'm'))
      }
      for (const [command, status] of [
        ['parley doctor', 1],
        ['parley logs', 0],
        ['parley status', 1],
      ] as const) {
        const shown = await second.run(command, status)
        for (const cause of Object.values(causes())) assert.match(shown, cause, command)
        assert.doesNotMatch(shown, /ask the operator/i)
        assert.doesNotMatch(shown, /fetch failed(?!.*ECONNREFUSED)/)
      }
    })

    step('has its cause in the console', async () => {
      const page = await openConsole(await second.run('parley open --print 2> hint'))
      for (const [name, cause] of Object.entries(causes())) {
        await page.goto(`/agents/${name}`)
        await page.getByText(cause).filter({ visible: true }).first().waitFor()
      }
    })

    step('works when its cause is gone, without a restart', async (machine) => {
      await writeFile(join(folder, 'greeter.ts'), greeter)
      const config = readFileSync(join(folder, 'parley.yaml'), 'utf8')
      await writeFile(join(folder, 'parley.yaml'), config.replace('sk-wrong', 'sk-right'))
      const third = await machine.terminal(folder)
      await third.start(`a2a server --exec "tr a-z A-Z" --port ${remote}`, /Listening: http:/)
      await second.runUntil('parley status || true', /^Agents +3 of 3 up$/m)
      assert.match(await second.run(`a2a send -a ${machine.url}/a2a/greeter Ada`), /Hello, Ada!/)
      assert.match(await second.run(`a2a send -a ${machine.url}/a2a/gpt hi`), /You said hi\./)
      assert.match(await second.run(`a2a send -a ${machine.url}/a2a/other hi`), /HI/)
    })
  },
  { skip: browserSkipReason },
)
