/** Props of every control of the form. */
import type { SettingField } from './setting-fields.ts'

export interface SettingControlProps {
  readonly field: SettingField
  readonly id: string
  readonly value: unknown
  readonly isWrong: boolean
  /** `undefined` removes the setting. */
  readonly onValue: (value: unknown) => void
}
