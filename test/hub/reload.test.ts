/** The configuration changes while the hub runs: a valid change takes effect without ending running work, an invalid one changes nothing. */
import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { call1_0, cardOf } from './raw-calls.ts'
import { runInProcess } from './run-in-process.ts'
import { newFolder, startHub } from './running-hub.ts'

const greeter = (word: string): string => `export default ({ text }: { text: string }) => \`${word}, \${text}!\`\n`
/** Writes as editors do. */
async function save(folder: string, name: string, text: string): Promise<void> {
  await writeFile(join(folder, `${name}.new`), text)
  await rename(join(folder, `${name}.new`), join(folder, name))
}

describe('a configuration that changes', { timeout: 120_000 }, () => {
  it('adds, changes and removes agents, while a running stream continues', async () => {
    const agents = (more: string): string => `agents:\n  echo: { kind: demo, agent: echo }\n${more}`
    const folder = await newFolder({ 'parley.yaml': agents('  clock: { kind: demo, agent: clock }\n') })
    const hub = await startHub(folder)
    const client = await connect(`${hub.url}/a2a/clock`)
    const events = client.stream('4')[Symbol.asyncIterator]()
    const { value: first } = await events.next()
    assert.ok(first !== undefined && 'task' in first)
    const ticks: string[] = []
    const ended = (async () => {
      for await (const event of { [Symbol.asyncIterator]: () => events }) {
        if ('artifactUpdate' in event)
          ticks.push(...event.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : '')))
      }
    })()

    await save(folder, 'parley.yaml', agents('  mirror: { kind: demo, agent: echo, description: New here }\n'))
    await hub.waitForLine(/mirror: added/)
    await hub.waitForLine(/clock: removed/)
    assert.equal((await call1_0(`${hub.url}/a2a/mirror`, 'hi')).text, 'hi')
    assert.equal((await call1_0(`${hub.url}/a2a/clock`, '1')).status, 404)
    await ended
    assert.equal(ticks.join(''), '1\n2\n3\n4\n')
    assert.equal((await client.get(first.task.id)).status.state, 'TASK_STATE_COMPLETED')
    await hub.stop()
  })

  it('has no effect if it is invalid, which is reported; once corrected, it takes effect', async () => {
    const folder = await newFolder({ 'parley.yaml': 'agents:\n  a: { kind: demo, agent: echo }\n' })
    const hub = await startHub(folder)
    await save(folder, 'parley.yaml', 'agents:\n  a: { kind: demo, agent: ecko }\n  b: { kind: demo, agent: echo }\n')
    await hub.waitForLine(/invalid and was not applied/)
    await hub.waitForLine(/parley\.yaml:2 {2}agents\.a\.agent: must be echo, clock, concierge or rehearsal/)
    assert.equal((await call1_0(`${hub.url}/a2a/a`, 'still')).text, 'still')
    assert.notEqual((await call1_0(`${hub.url}/a2a/b`, 'hi')).text, 'hi')
    await save(folder, 'parley.yaml', 'agents:\n  a: { kind: demo, agent: echo }\n  b: { kind: demo, agent: echo }\n')
    await hub.waitForLine(/b: added/)
    assert.equal((await call1_0(`${hub.url}/a2a/b`, 'hi')).text, 'hi')
    await hub.stop()
  })

  it('is in status, doctor and log while the hub does not apply it', async () => {
    const agent = 'agents:\n  a: { kind: demo, agent: echo }\n'
    const folder = await newFolder({ 'parley.yaml': agent })
    const hub = await startHub(folder)
    // Set for the commands, and not for the hub.
    const env = { PARLEY_URL: hub.url, PARLEY_ADMIN_KEY: await hub.adminKey(), OTHER_HOST: 'other.example' }
    const run = async (command: string) => runInProcess(folder, [command], env)
    await save(folder, 'parley.yaml', `${agent}  b: { kind: a2a, url: "https://\${env:OTHER_HOST}/" }\n`)
    await hub.waitForLine(/not applied: .*OTHER_HOST/)
    const status = await run('status')
    assert.equal(status.code, 1)
    assert.match(
      status.lines.join('\n'),
      /^Config +not applied since 20\S+: .*parley\.yaml:3 {2}agents\.b\.url: .*OTHER_HOST/m,
    )
    const doctor = await run('doctor')
    assert.equal(doctor.code, 1)
    assert.match(doctor.lines.join('\n'), /^failed +configuration +not applied by the running hub since .*OTHER_HOST/m)
    assert.match(
      (await run('logs')).lines.join('\n'),
      / ERROR .*not applied: .*parley\.yaml:3 {2}agents\.b\.url: .*OTHER_HOST/,
    )

    await save(folder, 'parley.yaml', `${agent}  c: { kind: demo, agent: echo }\n`)
    await hub.waitForLine(/c: added/)
    const applied = await run('status')
    assert.deepEqual([applied.code, applied.lines.some((line) => line.startsWith('Config'))], [0, false])
    assert.match((await run('doctor')).lines.join('\n'), /^ok +configuration .*\(2 agents\)$/m)
    await hub.stop()
  })

  it('reports which sections need a restart', async () => {
    const agents = 'agents: { a: { kind: demo, agent: echo } }\n'
    const folder = await newFolder({ 'parley.yaml': agents })
    const hub = await startHub(folder)
    await save(
      folder,
      'parley.yaml',
      `${agents}listen: { host: "::1" }\nidempotency: { window: 1h }\nretention: { finished: 1d }\n`,
    )
    await hub.waitForLine(/retention: changed/)
    await hub.waitForLine(/listen, idempotency: changed; restart to apply/)
    assert.equal((await call1_0(`${hub.url}/a2a/a`, 'here')).text, 'here')
    await hub.stop()
  })

  it('updates who may call', async () => {
    const agents = 'agents: { a: { kind: demo, agent: echo } }\n'
    const folder = await newFolder({ 'parley.yaml': `${agents}access: { anonymous: [a] }\n` })
    const hub = await startHub(folder)
    assert.equal((await call1_0(`${hub.url}/a2a/a`, 'hi')).text, 'hi')
    assert.equal((await cardOf(`${hub.url}/a2a/a`, { 'A2A-Version': '1.0' })).securityRequirements, undefined)
    await save(folder, 'parley.yaml', `${agents}access: {}\n`)
    await hub.waitForLine(/access: changed/)
    assert.equal((await call1_0(`${hub.url}/a2a/a`, 'hi')).status, 401)
    assert.ok((await cardOf(`${hub.url}/a2a/a`, { 'A2A-Version': '1.0' })).securityRequirements.length === 2)
    await hub.stop()
  })

  it('grants anonymous access only after a restart if there was none at the start [full]', async () => {
    const agents = 'agents: { a: { kind: demo, agent: echo } }\n'
    const folder = await newFolder({ 'parley.yaml': `${agents}access: {}\n` })
    const hub = await startHub(folder)
    await save(folder, 'parley.yaml', `${agents}access: { anonymous: [a] }\n`)
    await hub.waitForLine(/access without credentials to a: changed; restart to apply/)
    assert.equal((await call1_0(`${hub.url}/a2a/a`, 'hi')).status, 401)
    await hub.stop()
  })

  it('loads a module once its package.json is fixed, without a restart [full]', async () => {
    const folder = await newFolder({
      'parley.yaml': 'agents:\n  greeter: { kind: module, path: ./greeter.ts }\n',
      'package.json': '{ "name": "mine", "type": "commonjs" }',
      'greeter.ts': greeter('Hello'),
    })
    const hub = await startHub(folder)
    await hub.waitForLine(
      /greeter .* is not available: .*package\.json has "type": "commonjs" .* Set "type": "module" there/,
    )
    assert.equal((await call1_0(`${hub.url}/a2a/greeter`, 'you')).status, 503)
    await save(folder, 'package.json', '{ "name": "mine", "type": "module" }')
    await hub.waitForLine(/greeter: changed/)
    assert.equal((await call1_0(`${hub.url}/a2a/greeter`, 'you')).text, 'Hello, you!')
    await hub.stop()
  })

  it('is reloaded at SIGHUP, with the files of the agents', async () => {
    const folder = await newFolder({
      'greeter.ts': greeter('Hello'),
      'parley.yaml': 'agents: { greeter: { kind: module, path: ./greeter.ts } }\n',
    })
    const hub = await startHub(folder)
    assert.equal((await call1_0(`${hub.url}/a2a/greeter`, 'you')).text, 'Hello, you!')
    hub.signal('SIGHUP')
    await hub.waitForLine(/reloaded; nothing changed/)
    const seen = hub.lines.length
    await save(folder, 'greeter.ts', greeter('Good morning'))
    await hub.waitForLine(/greeter: changed/, seen)
    assert.equal((await call1_0(`${hub.url}/a2a/greeter`, 'you')).text, 'Good morning, you!')
    await hub.stop()
  })
})
