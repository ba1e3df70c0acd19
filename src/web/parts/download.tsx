import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { addressOf } from '../address.ts'
import classes from './download.module.css'

interface DownloadProps {
  /** Below `/api/v1`: `/token-entries`. */
  path: string
  query?: Record<string, string | readonly string[] | boolean | undefined>
  children?: string
  size?: 'xs'
  /** For a page with several of them; begins with what the button shows. */
  label?: string
  className?: string | undefined
}

/** Downloads a response of the API as a file. */
export const Download = ({ path, query = {}, children = 'Export CSV', size, label, className }: DownloadProps) => (
  <Button
    component="a"
    href={addressOf(`/api/v1${path}`, query)}
    download
    {...(size && { size })}
    {...(label && { 'aria-label': label })}
    {...(className && { className })}
    variant="default"
    leftSection={<IconDownload size={16} />}
  >
    {children}
  </Button>
)

/** Of a button whose label is hidden on phones. */
export const ICON_ON_PHONE = classes.icon

/** Downloads the whole list as CSV, with the page's filters. On a phone, an icon. */
export const DownloadCsv = ({ path, query = {}, ...look }: Omit<DownloadProps, 'children' | 'className'>) => (
  <Download
    {...look}
    className={ICON_ON_PHONE}
    path={path}
    query={{ ...query, page: undefined, limit: undefined, format: 'csv' }}
  />
)
