/** Stands for packages/create-parley/src/package-files.ts in an executable: the template is among its assets. */
import { getAsset } from 'node:sea'
import type * as packageFiles from '../../packages/create-parley/src/package-files.ts'

export const packageVersion: typeof packageFiles.packageVersion = () =>
  (JSON.parse(getAsset('package.json', 'utf8')) as { readonly version: string }).version

export const readTemplateFile: typeof packageFiles.readTemplateFile = async (name) =>
  getAsset(`template/${name}`, 'utf8')
