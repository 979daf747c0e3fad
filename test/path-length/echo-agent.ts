/** The agent of a hub that runs it as a module. */
import type { Turn } from '@parley/a2a'

export const agent = ({ text }: Turn): string => `You said: ${text}`
