/** What the recipe does to folders that exist: it takes no permission away, and never starts empty beside data. */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createDatabase, createSupervisor, findOrInstall, openSettings, portsFrom } from '../project-imports.ts'
import type { HaSettings } from '../project-imports.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-ha-data-'))
  after(() => rmSync(folder, { recursive: true }))
  return folder
}

const programs = [await findOrInstall('postgres'), await findOrInstall('haproxy')]
const skip = programs.includes(undefined) ? 'PostgreSQL or HAProxy is not installed' : false

describe('the data of the high availability recipe', () => {
  it('does not become empty when the folder of the primary is lost', async () => {
    const data = newFolder()
    mkdirSync(join(data, 'postgres/pg2'), { recursive: true })
    writeFileSync(join(data, 'postgres/pg2/PG_VERSION'), '17\n')
    const state = { primary: 'pg1', isSynchronous: true, hasStale: false }
    writeFileSync(join(data, 'database.json'), JSON.stringify(state))
    const settings: HaSettings = {
      data,
      port: 1,
      config: '',
      hub: [],
      ports: portsFrom(1),
      secrets: { masterKey: '', adminKey: '', hubPassword: '', replicationPassword: '' },
      programs: { postgresBin: '/nonexistent', haproxy: '' },
      users: { postgres: undefined, haproxy: undefined },
    }
    const report = (): void => {}
    const database = createDatabase(settings, createSupervisor(data, report), report)
    await assert.rejects(database.start(), /pg1 has lost its data.*"primary":"pg2".*database\.json/)
    assert.ok(!existsSync(join(data, 'postgres/pg1')))
    assert.deepEqual(JSON.parse(readFileSync(join(data, 'database.json'), 'utf8')), state)
  })

  it('is initialized again if a server was killed halfway', { skip }, async () => {
    const data = newFolder()
    const settings = openSettings({ data, port: 1, config: '', hub: [] })
    mkdirSync(join(data, 'postgres/pg1.new'))
    writeFileSync(join(data, 'postgres/pg1.new/PG_VERSION'), '17\n')
    const report = (): void => {}
    const { servers } = createDatabase(settings, createSupervisor(data, report), report)
    assert.equal(servers.pg1.exists, false)
    await servers.pg1.initialize()
    assert.equal(servers.pg1.exists, true)
    assert.ok(!existsSync(join(data, 'postgres/pg1.new')))
  })

  it('may be in a folder that others use, whose permissions stay', { skip }, () => {
    const modeAfter = (mode: number): number => {
      const data = newFolder()
      chmodSync(data, mode)
      openSettings({ data, port: 1, config: '', hub: [] })
      return statSync(data).mode & 0o7777
    }
    assert.deepEqual([modeAfter(0o1777), modeAfter(0o700)], [0o1777, 0o711])
  })
})
