/** Light or dark: the system's preference, or the user's choice. */
import { signal } from '@preact/signals'
import { savePreference, readPreference } from './preferences.ts'

export type Theme = 'system' | 'light' | 'dark'

const prefersDark = matchMedia('(prefers-color-scheme: dark)')
export const theme = signal<Theme>(readPreference('theme', ['system', 'light', 'dark']) ?? 'system')
/** The theme in effect. */
export const isDark = signal(false)

export function startTheme(): void {
  prefersDark.addEventListener('change', applyTheme)
  applyTheme()
}

export function chooseTheme(wanted: Theme): void {
  theme.value = wanted
  savePreference('theme', wanted)
  applyTheme()
}

function applyTheme(): void {
  isDark.value = theme.value === 'dark' || (theme.value === 'system' && prefersDark.matches)
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light'
}
