import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { addressOf } from '../address.ts'

interface DownloadProps {
  /** Below `/api/v1`: `/token-entries`. */
  path: string
  query?: Record<string, string | readonly string[] | boolean | undefined>
  children?: string
}

/** Saves what the API answers as a file; the browser shows how far it is. */
export const Download = ({ path, query = {}, children = 'CSV' }: DownloadProps) => (
  <Button
    component="a"
    href={addressOf(`/api/v1${path}`, query)}
    download
    variant="default"
    leftSection={<IconDownload size={16} />}
  >
    {children}
  </Button>
)

/** The whole list as CSV, with the filters that the page has. */
export const DownloadCsv = ({ path, query = {} }: Omit<DownloadProps, 'children'>) => (
  <Download path={path} query={{ ...query, page: undefined, limit: undefined, format: 'csv' }} />
)
