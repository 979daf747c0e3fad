/** Starts the browser of the desktop, if there is one. */
import { spawn } from 'node:child_process'
import type { Terminal } from '../command.ts'

/** A program that still runs after this time has opened a browser: some wait until it is closed. */
const startedMs = 3_000

/** Returns whether it worked. */
export async function openBrowser(
  url: string,
  environment: Terminal['environment'],
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  const command = browserCommand(environment, platform)
  if (command === undefined) return false
  const [program = '', ...args] = command
  // A browser needs most variables of the desktop, and no secret of the hub.
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('PARLEY_')))
  const child = spawn(program, [...args, url], {
    detached: true,
    stdio: 'ignore',
    env,
  })
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), startedMs)
    const settle = (isOpen: boolean): void => {
      clearTimeout(timer)
      resolve(isOpen)
    }
    child.once('error', () => settle(false))
    child.once('exit', (code) => settle(code === 0))
    child.unref()
  })
}

function browserCommand(
  { BROWSER, DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION }: Terminal['environment'],
  platform: NodeJS.Platform,
): readonly string[] | undefined {
  // Editors set it in remote sessions: their program opens the browser of the person.
  if (BROWSER) return [BROWSER]
  // A browser on the other machine is no help.
  if (SSH_CONNECTION) return undefined
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}
