import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'

it('an output that takes only a part is an error', { skip: process.platform === 'win32' }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-output-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [file, module] = [join(folder, 'output'), join(import.meta.dirname, 'write-completely.ts')]
  const source = `
    import { writeCompletely } from ${JSON.stringify(module)}
    await writeCompletely(process.stdout, 'x'.repeat(100_000)).catch(({ code }) => (process.exitCode = code === 'EFBIG' ? 7 : 8))`
  // A limit on the size of files, which a write meets as it does a full disk: the first part is written.
  const script = `trap '' XFSZ; ulimit -f 8; exec "$0" --input-type=module -e "$1" > "$2"`
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, source, file], { encoding: 'utf8' })
  assert.equal(status, 7, stderr)
  assert.ok(statSync(file).size > 0 && statSync(file).size < 100_000)
})
