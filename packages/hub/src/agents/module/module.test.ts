/** All ways in which a file may export an agent, and the errors for files that do not. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openKind } from '../testing/open-kind.ts'
import { testAgentServices } from '../testing/test-agent-services.ts'
import { moduleKind } from './index.ts'

const baseDir = mkdtempSync(join(tmpdir(), 'parley-module-'))
after(() => rmSync(baseDir, { recursive: true }))

let count = 0
function write(text: string, name = `agent-${(count += 1)}.ts`): string {
  writeFileSync(join(baseDir, name), text)
  return `./${name}`
}

async function failure(entry: object): Promise<string> {
  try {
    await moduleKind.open(moduleKind.schema.parse(entry), testAgentServices({ baseDir }))
  } catch (reason) {
    return (reason as Error).message
  }
  return 'it opened'
}

describe('a module', () => {
  it('exports a function, by default or as `agent`, in TypeScript', async (t) => {
    const texts = [
      'export default ({ text }: { text: string }): string => `Hello, ${text}!`',
      'export async function* agent({ text }: { text: string }) { yield `Hello, `; yield `${text}!` }',
      'export const other = 1\nexport const agent = { resume: "rerun", run: ({ text }) => `Hello, ${text}!` }',
    ]
    for (const text of texts) {
      const { agent } = await openKind(t, moduleKind, { path: write(text) }, { services: { baseDir } })
      assert.equal(await agent.ask('you'), 'Hello, you!')
    }
  })

  it('imports the SDK of the hub where none is installed', async (t) => {
    const path = write(`import { A2AError } from '@parley/a2a'
      import { connect } from '@parley/a2a/client'
      export default () => [A2AError.name, typeof connect].join(' ')`)
    const { agent } = await openKind(t, moduleKind, { path }, { services: { baseDir } })
    assert.equal(await agent.ask('you'), 'A2AError function')
  })

  it('imports the SDK that is installed beside it, and names an entry point that the SDK does not have', async (t) => {
    const folder = join(baseDir, 'with-sdk')
    mkdirSync(join(folder, 'node_modules/@parley/a2a'), { recursive: true })
    writeFileSync(join(folder, 'node_modules/@parley/a2a/package.json'), '{ "type": "module", "exports": "./own.js" }')
    writeFileSync(join(folder, 'node_modules/@parley/a2a/own.js'), 'export const own = "installed"')
    const path = write('import { own } from "@parley/a2a"\nexport default () => own', 'with-sdk/agent.ts')
    const { agent } = await openKind(t, moduleKind, { path }, { services: { baseDir } })
    assert.equal(await agent.ask('you'), 'installed')
    assert.match(await failure({ path: write('export * from "@parley/a2a/none"') }), /none/)
  })

  it('may have another export selected', async (t) => {
    const path = write('export const loud = ({ text }) => text.toUpperCase()\nexport default () => "no"')
    const { agent } = await openKind(t, moduleKind, { path, export: 'loud' }, { services: { baseDir } })
    assert.equal(await agent.ask('you'), 'YOU')
  })

  it('may export card fields, with a warning about fields without effect', async (t) => {
    const path = write(`export default {
      agent: () => 'hi', name: 'Greeter', description: 'Greets', version: '2.0.0',
      skills: [{ name: 'Greet people' }], inputModes: ['text/plain'], turnTimeoutMs: 5,
    }`)
    const { opened, lines } = await openKind(t, moduleKind, { path }, { services: { baseDir } })
    assert.deepEqual(opened.card, {
      name: 'Greeter',
      description: 'Greets',
      version: '2.0.0',
      skills: [{ id: 'greet-people', name: 'Greet people', description: 'Greet people', tags: ['general'] }],
      inputModes: ['text/plain'],
    })
    assert.match(lines[0]?.message ?? '', /exports turnTimeoutMs, which only the configuration can set/)
  })

  it('is read anew when its text has changed', async (t) => {
    const path = write('export default () => "one"', 'changing.ts')
    const entry = moduleKind.schema.parse({ path })
    assert.deepEqual(moduleKind.files?.(entry, baseDir), [join(baseDir, 'changing.ts')])
    const ask = async (): Promise<string> =>
      (await openKind(t, moduleKind, entry, { services: { baseDir } })).agent.ask('x')
    assert.equal(await ask(), 'one')
    write('export default () => "two"', 'changing.ts')
    utimesSync(join(baseDir, 'changing.ts'), new Date(), new Date(Date.now() + 5_000))
    assert.equal(await ask(), 'two')
  })

  for (const [fix, json] of [
    ['says "type": "module"', '{ "type": "module" }'],
    ['says no type', '{ "name": "x" }'],
  ] as const) {
    for (const end of ['ts', 'js']) {
      it(`that package.json makes CommonJS fails with that reason, and loads once that ${fix}: .${end}`, async (t) => {
        const folder = `commonjs-${(count += 1)}`
        mkdirSync(join(baseDir, folder))
        const packageFile = join(baseDir, folder, 'package.json')
        writeFileSync(packageFile, '{ "type": "commonjs" }')
        write('export const word = "hi"\n', `${folder}/word.${end}`)
        const path = write(
          `import { word } from './word.${end}'\nexport default () => word\n`,
          `${folder}/agent.${end}`,
        )
        const entry = moduleKind.schema.parse({ path })
        const files = [join(baseDir, folder, `agent.${end}`), packageFile]
        assert.deepEqual(moduleKind.files?.(entry, baseDir), files)
        assert.equal(
          await failure({ path }),
          `${path} is loaded as CommonJS because package.json has "type": "commonjs" (Cannot use import statement outside a module). Set "type": "module" there, or rename the file to ./${folder}/agent.m${end}`,
        )
        // Only package.json changes: the failure must not be cached.
        writeFileSync(packageFile, json)
        const { agent } = await openKind(t, moduleKind, entry, { services: { baseDir } })
        assert.equal(await agent.ask('you'), 'hi')
        assert.deepEqual(moduleKind.files?.(entry, baseDir), files.slice(0, 1))
      })
    }
  }

  it('that is CommonJS itself stays so beside one that was fixed', async (t) => {
    mkdirSync(join(baseDir, 'mixed'))
    const packageFile = join(baseDir, 'mixed', 'package.json')
    writeFileSync(packageFile, '{ "type": "commonjs" }')
    const path = write('import word from "./word.js"\nexport default () => word\n', 'mixed/agent.js')
    write('module.exports = "old"\n', 'mixed/word.js')
    assert.match(await failure({ path }), /is loaded as CommonJS/)
    writeFileSync(packageFile, '{}')
    const { agent } = await openKind(t, moduleKind, { path }, { services: { baseDir } })
    assert.equal(await agent.ask('you'), 'old')
  })

  it('that does not exist, exports no agent or does not load fails with the reason', async () => {
    assert.equal(await failure({ path: './none.ts' }), 'the file ./none.ts does not exist')
    assert.match(
      await failure({ path: write('export const x = 1') }),
      /has no export default or agent: export a function/,
    )
    assert.match(
      await failure({ path: write('export default 3') }),
      /the export default of .* is not an agent: export a function/,
    )
    assert.match(await failure({ path: write('export default { agent: { run() {} } }') }), /is not an agent/)
    assert.match(
      await failure({ path: write('export default { agent: () => 1, skills: [{}] }') }),
      /the exported skills\.0\.name is invalid/,
    )
    assert.match(await failure({ path: write('throw new Error("at load")') }), /at load/)
  })
})
