/** A person with an old Node: each command says which one it needs. The real thing runs where one is installed. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { installation } from './installation.ts'

const oldNode = (process.env['PATH'] ?? '')
  .split(':')
  .flatMap((folder) => globSync(join(folder, 'node')))
  .find((file) => Number(/^v(\d+)/.exec(spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout)?.[1]) < 24)

describe('an old Node', { skip: oldNode === undefined ? 'no Node older than 24 is in the path' : false }, () => {
  for (const [command, file] of [
    ['parley', '@parley/hub/dist/cli/main.js'],
    ['a2a', '@parley/cli/dist/main.js'],
    ['npm create parley', 'create-parley/dist/main.js'],
  ] as const) {
    it(`is named by ${command}, with the one that it needs`, async () => {
      const { scratch } = await installation()
      const program = join(scratch, 'node_modules', file)
      const { status, stderr } = spawnSync(oldNode ?? '', [program, '--version'], { encoding: 'utf8' })
      assert.match(stderr, /^\S.* requires Node 24 or newer; found \d+\.\d+\.\d+\.?\n$/)
      assert.equal(status, 1)
    })
  }
})
