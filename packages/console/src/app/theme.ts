/** Light or dark: as the system has it, or as somebody chose here. */
import { signal } from '@preact/signals'
import { remember, remembered } from './memory.ts'

export type Theme = 'system' | 'light' | 'dark'

const dark = matchMedia('(prefers-color-scheme: dark)')
export const theme = signal<Theme>(remembered('theme', ['system', 'light', 'dark']) ?? 'system')
/** As it is shown. */
export const isDark = signal(false)

export function startTheme(): void {
  dark.addEventListener('change', show)
  show()
}

export function chooseTheme(wanted: Theme): void {
  theme.value = wanted
  remember('theme', wanted)
  show()
}

function show(): void {
  isDark.value = theme.value === 'dark' || (theme.value === 'system' && dark.matches)
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light'
}
