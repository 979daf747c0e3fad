/** The shared installation: of the run of the suite, or, in a file that runs alone, its own. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { install, type Installation } from './install.ts'

let opened: Promise<Installation> | undefined
let close = async (): Promise<void> => {}
after(() => close())

export function installation(): Promise<Installation> {
  return (opened ??= open())
}

async function open(): Promise<Installation> {
  const folder = process.env['PARLEY_JOURNEYS']
  if (folder !== undefined) return JSON.parse(readFileSync(join(folder, 'installation.json'), 'utf8')) as Installation
  const own = await install()
  ;({ close } = own)
  return own.installed
}
