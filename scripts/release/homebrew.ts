/**
 * The formula for Homebrew, on macOS and Linux. It names where the archives are downloaded from, so it is written only if
 * TALLY_RELEASES_URL says where that will be: the URL of the folder with the archives of this version.
 */
import { join } from 'node:path'
import { checkedUrl, downloadOf } from './downloads.ts'
import type { Platform, Release } from './release.ts'

/** Homebrew on Linux brings a glibc of its own, so that there is no formula for musl. */
const SYSTEMS: readonly (readonly [system: string, processor: string, platform: Platform])[] = [
  ['macos', 'arm', 'darwin-arm64'],
  ['macos', 'intel', 'darwin-x64'],
  ['linux', 'arm', 'linux-arm64'],
  ['linux', 'intel', 'linux-x64'],
]

export function homebrewFormula(release: Release): Promise<string[]> {
  return formulaFor(release, process.env.TALLY_RELEASES_URL)
}

/** Writes no formula without a URL, and says so. */
export async function formulaFor(release: Release, releasesUrl: string | undefined): Promise<string[]> {
  if (!releasesUrl) {
    console.log('No formula for Homebrew: set TALLY_RELEASES_URL to the URL that the archives will be downloaded from.')
    return []
  }
  const base = checkedUrl(releasesUrl)
  const blocks: string[] = []
  for (const system of new Set(SYSTEMS.map(([each]) => each))) {
    const processors: string[] = []
    for (const [, processor, platform] of SYSTEMS.filter(([each]) => each === system)) {
      const { url, sha256 } = await downloadOf(release, base, platform)
      processors.push(`    on_${processor} do\n      url "${url}"\n      sha256 "${sha256}"\n    end\n`)
    }
    blocks.push(`  on_${system} do\n${processors.join('')}  end\n`)
  }
  const path = join(release.folder, 'tally.rb')
  await Bun.write(path, formula(release.version, base, blocks.join('\n')))
  return [path]
}

const formula = (version: string, homepage: string, downloads: string) => `class Tally < Formula
  desc "Records what AI agents use, shows it, and bills for it"
  homepage "${new URL(homepage).origin}/"
  version "${version}"
  license "MIT"

${downloads}
  def install
    bin.install "tally"
    man1.install "share/man/man1/tally.1"
    bash_completion.install "share/bash-completion/completions/tally"
    zsh_completion.install "share/zsh/site-functions/_tally"
    fish_completion.install "share/fish/vendor_completions.d/tally.fish"
    doc.install "THIRD-PARTY-LICENSES.txt"
  end

  service do
    run [opt_bin/"tally", "serve"]
    environment_variables TALLY_DATA: var/"tally"
    keep_alive true
    log_path var/"log/tally.log"
    error_log_path var/"log/tally.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tally version")
    port = free_port
    pid = spawn bin/"tally", "serve", "--port", port.to_s, "--data", testpath/"data"
    begin
      output = shell_output("curl -sS --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:#{port}/ready")
      assert_match '"ready"', output
    ensure
      Process.kill "TERM", pid
      Process.wait pid
    end
  end
end
`
