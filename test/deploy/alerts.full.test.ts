/** deploy/alerts.yaml: promtool accepts and fires its rules. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { findOrInstall } from '../../scripts/debian.ts'
import { newFolder, openHub } from '../telemetry/open-hub.ts'

const { pathname: rules } = new URL('../../deploy/alerts.yaml', import.meta.url)
const { pathname: tests } = new URL('alerts.promtool.yaml', import.meta.url)
const run = promisify(execFile)
const folder = await findOrInstall('promtool')
const skip = folder === undefined ? 'promtool is not installed (Debian: prometheus)' : false
const promtool = join(folder ?? '', 'promtool')

/** The text of /metrics after requests, a failed task, a queue and an export of the audit. */
async function metricsOfWorkingHub(t: TestContext): Promise<string> {
  const workFolder = await newFolder(t)
  const { hub, agent } = await openHub(
    t,
    {
      agents: {
        echo: { kind: 'module', path: './agents/echo.ts', default: true },
        broken: { kind: 'module', path: './agents/broken.ts' },
        slow: { kind: 'command', command: ['cat'], limits: { concurrent: 2 } },
      },
      audit: { export: { file: `${workFolder}/audit.jsonl` } },
    },
    workFolder,
  )
  await (await agent('echo')).ask('one')
  await (await agent('slow')).ask('two')
  await (await agent('broken')).send('three')
  const response = await fetch(`${hub.url}/metrics`)
  assert.equal(response.status, 200)
  return response.text()
}

describe('the alerts', () => {
  it('pass promtool check rules', { skip }, async () => {
    const { stdout } = await run(promtool, ['check', 'rules', '--lint-fatal', rules])
    assert.match(stdout, /SUCCESS: \d+ rules found/)
  })

  it('fire and stay silent as their tests say', { skip }, async () => {
    const { stdout, stderr } = await run(promtool, ['test', 'rules', tests])
    assert.match(stdout + stderr, /SUCCESS/)
  })

  it('are about metrics that promtool accepts', { skip }, async (t) => {
    const text = join(await newFolder(t), 'metrics.txt')
    await writeFile(text, await metricsOfWorkingHub(t))
    const { stdout, stderr } = await run('sh', ['-c', `"${promtool}" check metrics < "${text}"`])
    assert.equal(stdout + stderr, '')
  })
})
