import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { addressOf } from '../address.ts'

interface DownloadProps {
  /** Below `/api/v1`: `/token-entries`. */
  path: string
  query?: Record<string, string | readonly string[] | boolean | undefined>
  children?: string
}

/** Downloads a response of the API as a file. */
export const Download = ({ path, query = {}, children = 'Export CSV' }: DownloadProps) => (
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

/** Downloads the whole list as CSV, with the page's filters. */
export const DownloadCsv = ({ path, query = {} }: Omit<DownloadProps, 'children'>) => (
  <Download path={path} query={{ ...query, page: undefined, limit: undefined, format: 'csv' }} />
)
