/** The executable of the hub: one file, which needs neither Node nor a folder beside it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { buildExecutable } from '../../scripts/executable.ts'
import { buildFolder, checkInstalledHub, checkInstallPage } from './installed-hub.ts'

const folder = await buildFolder()
after(() => folder.remove())

const isSupported = ['linux', 'darwin', 'win32'].includes(process.platform)

if (!isSupported) {
  it('the executable of the hub', { skip: `Node has no executables for ${process.platform}` })
} else {
  checkInstalledHub('a hub as an executable', async () => {
    const { file, bytes } = await buildExecutable(join(folder.path, 'parley-linux-x64'))
    assert.ok(bytes < 140e6, `${bytes} bytes`)
    return [file]
  })
  checkInstallPage('The executable', folder.path)
}
