class Agentvoice < Formula
  desc "Talk with a coding assistant, hands-free"
  homepage "https://github.com/agentvoice/agentvoice-daemon"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "https://github.com/agentvoice/agentvoice-daemon/releases/download/v@VERSION@/agentvoice-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@SHA256 darwin-arm64@"
    end
    on_intel do
      url "https://github.com/agentvoice/agentvoice-daemon/releases/download/v@VERSION@/agentvoice-@VERSION@-darwin-x64.tar.gz"
      sha256 "@SHA256 darwin-x64@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/agentvoice/agentvoice-daemon/releases/download/v@VERSION@/agentvoice-@VERSION@-linux-arm64.tar.gz"
      sha256 "@SHA256 linux-arm64@"
    end
    on_intel do
      url "https://github.com/agentvoice/agentvoice-daemon/releases/download/v@VERSION@/agentvoice-@VERSION@-linux-x64.tar.gz"
      sha256 "@SHA256 linux-x64@"
    end
  end

  def install
    libexec.install Dir["*"]
    bin.install_symlink libexec/"agentvoice-daemon"
    bin.install_symlink libexec/"agentvoice-daemon" => "agentvoice"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/agentvoice-daemon version")
  end
end
