/** All ways in which a file may export an agent, and the errors for files that do not. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
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
    return reason instanceof Error ? reason.message : String(reason)
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

  it('opens its tasks when its entry says, so that a message can be durable before the function runs', async () => {
    const path = write('export default () => "hello"')
    const opened = (entry: object) =>
      moduleKind.open(moduleKind.schema.parse({ path, ...entry }), testAgentServices({ baseDir }))
    assert.equal((await opened({ openAfter: '0s' })).openAfterMs, 0)
    assert.equal((await opened({ openAfter: '2s' })).openAfterMs, 2_000)
    assert.equal((await opened({})).openAfterMs, undefined)
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

  for (const [file, exported] of [
    ['changing.ts', 'export default'],
    ['changing.cjs', 'module.exports ='],
  ] as const) {
    it(`is read anew when its text has changed: ${file}`, async (t) => {
      const path = write(`${exported} () => "one"`, file)
      const entry = moduleKind.schema.parse({ path })
      assert.deepEqual(moduleKind.files?.(entry, baseDir), [join(baseDir, file)])
      const ask = async (): Promise<string> =>
        (await openKind(t, moduleKind, entry, { services: { baseDir } })).agent.ask('x')
      assert.equal(await ask(), 'one')
      write(`${exported} () => "two"`, file)
      utimesSync(join(baseDir, file), new Date(), new Date(Date.now() + 5_000))
      assert.equal(await ask(), 'two')
    })
  }

  it('that threw while it was loaded is run again by the next attempt, and then not a second time', async (t) => {
    const ready = join(baseDir, 'ready')
    const path = write(`import { existsSync, appendFileSync } from 'node:fs'
      appendFileSync(${JSON.stringify(`${ready}-runs`)}, 'r')
      if (!existsSync(${JSON.stringify(ready)})) throw new Error('the database is down')
      export default () => 'up'`)
    assert.equal(await failure({ path }), `${path}:3: the database is down`)
    assert.equal(await failure({ path }), `${path}:3: the database is down`)
    writeFileSync(ready, '')
    for (let count = 0; count < 2; count += 1) {
      const { agent } = await openKind(t, moduleKind, { path }, { services: { baseDir } })
      assert.equal(await agent.ask('you'), 'up')
    }
    assert.equal(readFileSync(`${ready}-runs`, 'utf8'), 'rrr')
  })

  for (const [name, text, importer] of [
    ['an ES module', 'export const word = 1\nthrow new Error("no licence.")', 'import { word } from "./lib/part.mjs"'],
    ['one that throws later', 'await Promise.reject(new Error("no licence"))', 'import "./lib/part.mjs"'],
    ['one that is not an error', 'throw "no licence"', 'import "./lib/between.mjs"'],
    ['CommonJS', 'throw new Error("no licence")', 'import word from "./lib/part.cjs"'],
    ['imported when the module runs', 'throw new Error("no licence")', 'await import("./lib/part.mjs")'],
  ] as const) {
    it(`names an imported file that threw, which only a restart loads again: ${name}`, async (t) => {
      const folder = `imports-${(count += 1)}`
      mkdirSync(join(baseDir, folder, 'lib'), { recursive: true })
      const part = name === 'CommonJS' ? 'lib/part.cjs' : 'lib/part.mjs'
      write('export const fine = 1', `${folder}/lib/fine.mjs`)
      write('import "./fine.mjs"\nimport "./part.mjs"', `${folder}/lib/between.mjs`)
      write(text, `${folder}/${part}`)
      const agentText = `import "./lib/fine.mjs"\n${importer}\nexport default () => "fine"`
      const path = write(agentText, `${folder}/agent.ts`)
      const sentence = `${part}, which ${path} imports, threw: no licence. Restart the hub to load it again`
      assert.equal(await failure({ path }), sentence)
      write('export const word = 1', `${folder}/${part}`)
      assert.equal(await failure({ path }), sentence)
      write(`${agentText} // changed`, `${folder}/agent.ts`)
      assert.equal(await failure({ path }), sentence)
      assert.match(
        await failure({ path: write(importer, `${folder}/second.ts`) }),
        /^lib\/part\..js, which .*second\.ts/,
      )
      write('export default () => "without it"', `${folder}/agent.ts`)
      const { agent } = await openKind(t, moduleKind, { path }, { services: { baseDir } })
      assert.equal(await agent.ask('you'), 'without it')
    })
  }

  it('fails with its own reason although a file that it imports still waits', { timeout: 120_000 }, async () => {
    mkdirSync(join(baseDir, 'waits'))
    write('await new Promise(() => {})', 'waits/waiting.mjs')
    write('throw new Error("no licence")', 'waits/part.mjs')
    const own = write('import("./waiting.mjs")\nthrow new Error("no key")', 'waits/own.ts')
    assert.equal(await failure({ path: own }), `${own}:2: no key`)
    const path = write('import "./waiting.mjs"\nimport "./part.mjs"\nexport default () => 1', 'waits/agent.ts')
    const sentence = `part.mjs, which ${path} imports, threw: no licence. Restart the hub to load it again`
    assert.equal(await failure({ path }), sentence)
  })

  it('is not confused with another file that threw the same text', async () => {
    mkdirSync(join(baseDir, 'same'))
    for (const part of ['one', 'two']) {
      write('throw "no key here"', `same/${part}.mjs`)
      const path = write(`import "./${part}.mjs"\nexport default () => 1`, `same/agent-${part}.ts`)
      const sentence = `${part}.mjs, which ${path} imports, threw: no key here. Restart the hub to load it again`
      assert.equal(await failure({ path }), sentence)
      assert.equal(await failure({ path }), sentence)
    }
    assert.equal(await failure({ path: write('throw "no key here"', 'same/own.ts') }), 'no key here')
  })

  it('that imports what Node has loaded in an earlier version fails with that reason', async () => {
    write('export const one = 1', 'earlier.mjs')
    await failure({ path: write('import { one } from "./earlier.mjs"\nthrow one') })
    write('export const two = 2', 'earlier.mjs')
    assert.equal(
      await failure({ path: write('import { two } from "./earlier.mjs"\nexport default () => two') }),
      "The requested module './earlier.mjs' does not provide an export named 'two'. If ./earlier.mjs has changed, restart the hub to load it again",
    )
  })

  it('does not run the files that it imports if it cannot be linked', async () => {
    const ran = join(baseDir, 'ran')
    write(`import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(ran)}, '')`, 'runs.mjs')
    const path = write('import "./runs.mjs"\nimport "./not-there.mjs"\nexport default () => 1')
    assert.match(await failure({ path }), /Cannot find module/)
    assert.equal(existsSync(ran), false)
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

  it('that has a syntax error is named with the line, and so is a file that it imports', async () => {
    const own = write('export default () => {\n  return `abc\n}\n', 'syntax.ts')
    assert.equal(await failure({ path: own }), `${own}:2: Unterminated template`)
    mkdirSync(join(baseDir, 'lib'), { recursive: true })
    write('export const one = 1\nexport const two = ;\n', 'lib/syntax-part.ts')
    const path = write('import "./lib/syntax-part.ts"\nexport default () => 1', 'imports-syntax.ts')
    assert.equal(await failure({ path }), 'lib/syntax-part.ts:2: Expression expected')
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
