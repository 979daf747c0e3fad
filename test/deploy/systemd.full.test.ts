/** The unit of systemd: valid, closed to what the hub does not need, and the hub works inside it, under a real systemd. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { bundleHub } from '../../scripts/bundle-hub.ts'
import { findOrInstall } from '../../scripts/debian.ts'
import { freePort } from '../free-port.ts'
import { assertOutput } from '../journeys/pages/match-output.ts'
import { pageSteps, readPage } from '../journeys/pages/page-steps.ts'
import { readTask, sendMessage, untilReady } from './hub-requests.ts'
import { bootSystemd, systemdSkipReason } from './systemd-machine.ts'

const units = join(import.meta.dirname, '../../deploy/systemd')
/** Of 10. What is left: the network, Unix sockets, the root of the host, and memory that Node's compiler writes and runs. */
const maxExposure = 1.5

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-unit-'))
  after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

describe('deploy/systemd/parley.service', async () => {
  const place = await findOrInstall('systemd-analyze')
  const skip = place === undefined ? 'systemd-analyze is not installed' : false
  const analyze = (...args: readonly string[]) =>
    spawnSync(join(place ?? '', 'systemd-analyze'), ['--no-pager', ...args], { encoding: 'utf8' })

  it('is valid, with the drop-in for secrets', { skip }, async () => {
    const folder = await newFolder()
    const unit = await readFile(join(units, 'parley.service'), 'utf8')
    // The hub is not installed here, and systemd looks for the program.
    assert.match(unit, /^ExecStart=\/usr\/local\/bin\/parley up /m)
    const file = join(folder, 'parley.service')
    const secrets = await readFile(join(units, 'secrets.conf'), 'utf8')
    await writeFile(file, `${unit.replace('/usr/local/bin/parley', process.execPath)}\n${secrets}`)
    const { status, stdout, stderr } = analyze('verify', '--man=no', file)
    assert.equal(stdout + stderr, '')
    assert.equal(status, 0)
  })

  it('is found invalid with a misspelled setting', { skip }, async () => {
    const file = join(await newFolder(), 'parley.service')
    const unit = await readFile(join(units, 'parley.service'), 'utf8')
    await writeFile(
      file,
      unit.replace('/usr/local/bin/parley', process.execPath).replace('ProtectSystem=', 'ProtectSytem='),
    )
    assert.match(analyze('verify', '--man=no', file).stderr, /ProtectSytem/)
  })

  it(`has an exposure of at most ${maxExposure} of 10`, { skip }, (test) => {
    const file = join(units, 'parley.service')
    const { stdout } = analyze('security', '--offline=true', file)
    test.diagnostic(stdout.trim().split('\n').at(-1) ?? '')
    const exposure = Number(/exposure level for parley\.service: ([\d.]+)/.exec(stdout)?.[1])
    assert.ok(exposure <= maxExposure, stdout)
  })
})

describe('docs/guides/deploy/systemd.md, under a real systemd', { timeout: 300_000 }, async () => {
  it('works as printed', { skip: await pageSkipReason() }, async (test) => {
    const bundle = join(await newFolder(), 'bundle')
    await bundleHub(bundle)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    await using machine = await bootSystemd(bundle)
    const onThisMachine = (text: string): string => text.replaceAll(/\b3000\b/g, String(port))
    const write = (file: string, text: string): string =>
      machine.sh(`cat > '${file}' <<'END_OF_FILE'\n${onThisMachine(text)}END_OF_FILE`)
    const adminKey = (): string => machine.sh('cat /etc/parley/secrets/admin-key').trim()
    const [upgrade, ...steps] = pageSteps(readPage('docs/guides/deploy/systemd.md')).toReversed()
    let config = ''

    for (const step of steps.toReversed()) {
      if (step.kind === 'file') {
        if (step.name.endsWith('parley.yaml')) config = step.content
        write(step.name, step.content)
      } else if (step.kind === 'command') {
        const said = machine.sh(onThisMachine(step.script))
        if (step.output !== undefined) assertOutput(said, step.output)
      }
    }

    await test.test('the hub has a user of its own, and no privileges', () => {
      const status = machine.sh(`cat /proc/${machine.property('MainPID')}/status`)
      assert.doesNotMatch(status, /^Uid:\s+0\b/m)
      assert.match(status, /^NoNewPrivs:\s+1$/m)
      assert.match(status, /^Seccomp:\s+2$/m)
      assert.match(status, /^CapEff:\s+0+$/m)
    })

    await test.test('its admin key is the credential', async () => {
      const headers = { authorization: `Bearer ${adminKey()}` }
      assert.equal((await fetch(`${url}/admin/agents`, { headers })).status, 200)
    })

    await test.test('it comes back after kill -9, with its tasks', async () => {
      const id = await sendMessage(url, 'echo', 'hello')
      const pid = machine.property('MainPID')
      machine.sh(`kill -KILL ${pid}`)
      await eventually(() => !['0', pid].includes(machine.property('MainPID')))
      await untilReady(url, machine)
      assert.match(JSON.stringify(await readTask(url, 'echo', id)), /hello/)
      assert.equal(machine.property('NRestarts'), '1')
    })

    await test.test('a reload applies the configuration', async () => {
      write('/etc/parley/parley.yaml', `${config}  other: { kind: demo, agent: clock }\n`)
      machine.sh('systemctl reload parley')
      await eventually(() => machine.output().includes('other: added'))
    })

    await test.test('an upgrade works as printed', async () => {
      assert.ok(upgrade?.kind === 'command')
      const pid = machine.property('MainPID')
      machine.sh(upgrade.script)
      await untilReady(url, machine)
      assert.notEqual(machine.property('MainPID'), pid)
    })

    await test.test('a stop is a clean end', () => {
      machine.sh('systemctl stop parley')
      assert.deepEqual(
        [machine.property('ActiveState'), machine.property('Result'), machine.property('ExecMainStatus')],
        ['inactive', 'success', '0'],
      )
    })
  })
})

async function pageSkipReason(): Promise<string | false> {
  const curl = await findOrInstall('curl')
  return curl === undefined ? 'curl is not installed' : systemdSkipReason()
}
