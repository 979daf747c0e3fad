/** Stands for hub/console/console-files.ts in an executable: the console is among its assets. */
import { getAssetKeys, getRawAsset } from 'node:sea'
import type { readConsoleFiles as readConsoleFolder } from '../../packages/hub/src/console/console-files.ts'

const prefix = 'console/'

/** Whatever the folder: the executable has one console. */
export const readConsoleFiles: typeof readConsoleFolder = () => {
  const keys = getAssetKeys().filter((key) => key.startsWith(prefix))
  return new Map(keys.map((key) => [key.slice(prefix.length), Buffer.from(getRawAsset(key))]))
}
