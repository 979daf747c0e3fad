/** An operator replaces the packages by newer ones while the hub runs, and restarts it: tasks, keys and agents are still there. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { archiveOf, extract, run } from './install.ts'
import { installation } from './installation.ts'
import { describeJourney } from './journey.ts'
import type { Machine } from './machine.ts'
import type { Terminal } from './terminal.ts'

const names = ['@parley/a2a', '@parley/cli', '@parley/hub', 'create-parley']
const next = '0.99.0'

/** The same code under the next version. */
async function packNext(machine: Machine): Promise<string> {
  const packed = await installation()
  const folder = await machine.folder('next')
  for (const name of names) {
    const content = join(folder, name, 'package')
    await extract(archiveOf(packed, name), content)
    const file = join(content, 'package.json')
    const manifest = JSON.parse(await readFile(file, 'utf8')) as Record<string, Record<string, string>>
    const dependencies = Object.entries(manifest['dependencies'] ?? {}).map(([dependency, version]) => [
      dependency,
      names.includes(dependency) ? next : version,
    ])
    await writeFile(
      file,
      JSON.stringify({ ...manifest, version: next, dependencies: Object.fromEntries(dependencies) as object }),
    )
    await run('tar', ['-czf', join(folder, `${name.replace('@parley/', '')}.tgz`), '-C', join(folder, name), 'package'])
  }
  return folder
}

describeJourney('an upgrade', (step) => {
  let [first, second] = [] as Terminal[] as [Terminal, Terminal]
  let before = ''

  step('begins with a hub in use', async (machine) => {
    const folder = await machine.folder('hub', { 'package.json': '{ "type": "module" }' })
    first = await machine.terminal(folder)
    second = await machine.terminal(folder)
    await first.run(`npm install ${names.join(' ')}`)
    await first.start('npx parley up', /Stop with Ctrl-C/)
    await second.run('npx parley agent add --name words -- wc -w')
    await first.until(/words: added/)
    await second.run('npx parley key create --agent words --name ci > ci-key')
    assert.match(await second.run(`npx a2a send -a ${machine.url}/a2a/words "one two"`), /\b2\b/)
    before = await second.run(`npx a2a task list -a ${machine.url}/a2a/words`)
  })

  step('replaces the packages while the hub runs', async (machine) => {
    const archives = await packNext(machine)
    await second.run(
      `npm install ${names.map((name) => join(archives, `${name.replace('@parley/', '')}.tgz`)).join(' ')}`,
    )
    await first.interrupt()
    await first.start('npx parley up', /Stop with Ctrl-C/)
    assert.match(await second.run('npx parley status'), new RegExp(`Parley ${next.replaceAll('.', '\\.')}`))
  })

  step('keeps tasks, keys and agents', async (machine) => {
    assert.equal(await second.run(`npx a2a task list -a ${machine.url}/a2a/words`), before)
    assert.match(await second.run('npx parley key list'), /\bci\b/)
    assert.match(await second.run('npx parley agent list'), /^words .*\bup\b/m)
    const header = `-H "Authorization: Bearer $(cat ci-key)"`
    const tasks = await second.run(`curl -sf ${machine.url}/a2a/words/tasks -H 'A2A-Version: 1.0' ${header}`)
    assert.match(tasks, /"tasks":/, 'the key is accepted')
    assert.match(await second.run('npx parley verify'), /./)
  })
})
